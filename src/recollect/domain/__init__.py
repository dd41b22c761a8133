"""Values and rules of the domain: frozen dataclasses, enums, pure functions. No I/O."""
