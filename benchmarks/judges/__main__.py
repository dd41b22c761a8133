"""
Measure the learned judges, or train them.

    python -m benchmarks.judges FOLDER            # print how they do on what they have not seen
    python -m benchmarks.judges FOLDER --train    # write the weights of the package
"""

import argparse
from pathlib import Path

from benchmarks.judges.durability import measure_durability, measure_subject, train_durability
from benchmarks.judges.pairs import measure_pairs, train_pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="labelled messages, one file for each domain")
    parser.add_argument("--train", action="store_true", help="write the weights of the package")
    arguments = parser.parse_args()
    if arguments.train:
        train_durability(arguments.folder)
        train_pairs(arguments.folder)
    else:
        measure_durability(arguments.folder)
        measure_subject(arguments.folder)
        measure_pairs(arguments.folder)


if __name__ == "__main__":
    main()
