//! Limits of the protocol, each with its reason.

/// Bytes of a message from an editor: a prompt of the longest kind, whose text may be escaped, and the JSON
/// around it.
pub const MESSAGE_BYTES_MAX: usize = 16 << 20;

/// Bytes of the id of a message that is too long to be kept. Ids are numbers or UUIDs.
pub const ID_BYTES_MAX: usize = 200;

/// Depth of brackets of which the kinds are kept, to find the id of a message whose brackets do not match: as
/// deep as JSON is read.
pub const NESTING_MAX: usize = 128;

/// Bytes of a WebSocket message from an editor that is read as a whole. One that is longer than
/// [`MESSAGE_BYTES_MAX`] is only read for its id, which the error for it needs; a file that a person attaches
/// fits.
pub const SOCKET_MESSAGE_BYTES_MAX: usize = 64 << 20;

/// Bytes of a message from a server: an event wraps a line of the CLI, which may have 64 MiB.
pub const SERVER_MESSAGE_BYTES_MAX: usize = 72 << 20;

/// Messages of one connection that wait to be written. Sessions wait when it is full.
pub const MESSAGES_WAITING_MAX: usize = 64;

/// Commands of an editor that wait for one session.
pub const COMMANDS_WAITING_MAX: usize = 64;

/// Sessions that one connection may have open.
pub const SESSIONS_MAX: usize = 64;

/// Prompts of one session that wait for their turn to end.
pub const PROMPTS_MAX: usize = 32;

/// Events before a cursor from which the state of a resumed connection is computed: more than any turn has
/// between two boundaries of a text.
pub const EVENTS_BEFORE_CURSOR: u64 = 2000;

/// Sessions on one page of a list.
pub const LIST_PAGE: usize = 50;

/// Requests of an editor that a relay keeps for a server that restarts.
pub const CALLS_KEPT_MAX: usize = 64;

/// Bytes of text in one update; longer output of a tool is cut in the middle.
pub const TEXT_BYTES_MAX: usize = 256 << 10;

/// Bytes of a line from an agent under Tidings. It is passed on twice, translated and as it came, and a line
/// of the host may have 64 MiB.
pub const AGENT_LINE_BYTES_MAX: usize = 16 << 20;

/// Bytes of a block of text from such an agent; a longer one continues in another block.
pub const BLOCK_BYTES_MAX: usize = 1 << 20;

/// Tool calls of one turn of such an agent; further ones are shown as they came.
pub const CALLS_MAX: usize = 10_000;

/// Requests of such an agent that wait for an answer; further ones are refused.
pub const ASKS_MAX: usize = 64;

/// Bytes of a file that such an agent may read or write through us.
pub const FILE_BYTES_MAX: u64 = 8 << 20;

/// Terminals that such an agent may have open at a time.
pub const TERMINALS_MAX: usize = 16;

/// Bytes of output that a terminal keeps.
pub const TERMINAL_BYTES_MAX: usize = 1 << 20;

/// Options of such an agent that are listed. Agents have a handful.
pub const OPTIONS_MAX: usize = 32;

/// Values of one option that are listed: as many as a person can choose from.
pub const OPTION_VALUES_MAX: usize = 200;

/// Bytes of the id of an option, and of a value. Longer ones are not listed, and cannot be set.
pub const OPTION_ID_BYTES_MAX: usize = 200;

/// Characters of a name or a description of an option, which are shown in a list.
pub const OPTION_TEXT_CHARS_MAX: usize = 400;

/// Pages of an agent's list of its sessions that are read at a time.
pub const LIST_PAGES_MAX: usize = 20;

/// Sessions of such a list that are read at a time; a list of the server has as many.
pub const LISTED_MAX: usize = 1000;

/// Characters of a title in such a list: it is shown in one line.
pub const LISTED_TEXT_CHARS_MAX: usize = 200;

/// Bytes of an agent's cursor, which is passed on in an address.
pub const LIST_CURSOR_BYTES_MAX: usize = 1000;
