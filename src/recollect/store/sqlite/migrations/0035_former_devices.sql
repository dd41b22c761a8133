-- A store that became another device publishes everything, and then deletes the files of the device that it was. Both survive a kill.
ALTER TABLE sync_device ADD COLUMN must_resend_all INTEGER NOT NULL DEFAULT 0;  -- 1: not everything is marked as unsent yet
ALTER TABLE sync_device ADD COLUMN former_devices TEXT NOT NULL DEFAULT '';   -- devices whose files are to be deleted, separated by spaces
-- Keys of the folder that this device has left: whoever has one of them, and puts the former manifest back, must not be written for again.
ALTER TABLE sync_device ADD COLUMN replaced_key_ids TEXT NOT NULL DEFAULT '';   -- their ids, separated by spaces
