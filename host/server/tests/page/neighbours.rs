//! A second user of the machine: sees nothing of the page, of its file, or of its one-time code.
