//! What a module may take, as the operator sets it. A manifest lowers the time and the sizes of its op and raises
//! nothing.

/// Limits of one call of a module, and how many calls there are at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SandboxSettings {
    /// Most calls at once; more wait for a place, within their op's time.
    pub calls: u16,
    /// Most bytes of memory of a call.
    pub memory_bytes: usize,
    /// Most elements of all tables of a call.
    pub table_elements: usize,
    /// Most instructions of a call, as the engine counts them.
    pub fuel: u64,
    /// Most requests of a call.
    pub requests: u32,
    /// Most bytes of all answers that a call is given.
    pub bytes_in: u64,
    /// Most bytes that a call hands over at once: its requests, or its result. An op's `response_bytes` lowers it.
    pub bytes_out: u64,
    /// Most lines that a call writes to the log.
    pub log_lines: u32,
    /// Most bytes of those lines.
    pub log_bytes: usize,
    /// Most bytes of compiled modules that are kept on the disk, where there is a folder for them; zero keeps none.
    pub cache_bytes: u64,
}

impl Default for SandboxSettings {
    fn default() -> Self {
        Self {
            calls: 16,
            memory_bytes: 64 << 20,
            table_elements: 20_000,
            fuel: 10_000_000_000,
            requests: 100,
            bytes_in: 64 << 20,
            bytes_out: 16 << 20,
            log_lines: 200,
            log_bytes: 64 << 10,
            cache_bytes: 256 << 20,
        }
    }
}
