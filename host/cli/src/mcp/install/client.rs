//! Which clients there are, where each keeps its servers, and in what words. As of November 2026, out of their makers' own
//! documentation, which each client's line names.
//!
//! A client whose format changes between its versions is not here (opencode), and none whose file is not one of settings.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::entry::{EditError, Edited, Entry, Setting};
use super::{json, toml};
use crate::config::Config;

/// A program whose agent uses MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    /// `~/.claude.json`, or `.mcp.json` of a project (code.claude.com/docs/en/mcp)
    ClaudeCode,
    /// `claude_desktop_config.json` (modelcontextprotocol.io/docs/develop/connect-local-servers)
    ClaudeDesktop,
    /// `~/.cline/data/settings/cline_mcp_settings.json` (docs.cline.bot/mcp)
    Cline,
    /// `~/.codex/config.toml`, or `.codex/config.toml` of a project (developers.openai.com/codex/mcp)
    Codex,
    /// `~/.cursor/mcp.json`, or `.cursor/mcp.json` of a project (cursor.com/docs/mcp)
    Cursor,
    /// `~/.gemini/settings.json`, or `.gemini/settings.json` of a project (geminicli.com/docs/tools/mcp-server)
    GeminiCli,
    /// `.roo/mcp.json` of a project (docs.roocode.com/features/mcp)
    Roo,
    /// `.vscode/mcp.json` of a project, or `mcp.json` of the user (code.visualstudio.com/docs/agents/reference/mcp-configuration)
    Vscode,
    /// `~/.codeium/windsurf/mcp_config.json` (docs.windsurf.com/windsurf/cascade/mcp)
    Windsurf,
    /// `settings.json` of the user, or `.zed/settings.json` of a project (zed.dev/docs/ai/mcp)
    Zed,
}

/// Whose configuration it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    /// The person's own, for all that she does
    User,
    /// The folder's in which this is run, for all who work in it
    Project,
}

/// A file, and the folder below which no link is followed on the way to it.
#[derive(Debug)]
pub(super) struct Spot {
    pub(super) base: PathBuf,
    pub(super) below: PathBuf,
    pub(super) scope: Scope,
}

/// How a client finds the token of a server that it calls by HTTP.
#[derive(Debug, Clone, Copy)]
enum Token {
    /// A header's value in which a variable stands between these two.
    Header(&'static str, &'static str),
    /// A setting that has the variable's name.
    Variable(&'static str),
    /// It cannot be said but by writing the token itself into the file.
    Nowhere,
}

/// How a client writes a server that it calls by HTTP.
#[derive(Debug, Clone, Copy)]
struct Http {
    kind: Option<&'static str>,
    url: &'static str,
    token: Token,
}

/// A client's words.
#[derive(Debug, Clone, Copy)]
struct Form {
    name: &'static str,
    section: &'static str,
    stdio: Option<&'static str>,
    http: Option<Http>,
}

impl Client {
    fn form(self) -> Form {
        let form = |name, section, stdio, kind, url, token| Form {
            name,
            section,
            stdio,
            http: Some(Http { kind, url, token }),
        };
        let (servers, env) = ("mcpServers", Token::Header("${env:", "}"));
        match self {
            Self::ClaudeCode => {
                form("Claude Code", servers, Some("stdio"), Some("http"), "url", Token::Header("${", "}"))
            }
            Self::ClaudeDesktop => Form { name: "Claude Desktop", section: servers, stdio: None, http: None },
            Self::Cline => form("Cline", servers, None, Some("streamableHttp"), "url", Token::Nowhere),
            Self::Codex => {
                form("Codex", "mcp_servers", None, None, "url", Token::Variable("bearer_token_env_var"))
            }
            Self::Cursor => form("Cursor", servers, Some("stdio"), None, "url", env),
            Self::GeminiCli => form("Gemini CLI", servers, None, None, "httpUrl", Token::Header("${", "}")),
            Self::Roo => form("Roo Code", servers, None, Some("streamable-http"), "url", env),
            Self::Vscode => form("VS Code", "servers", Some("stdio"), Some("http"), "url", env),
            Self::Windsurf => form("Windsurf", servers, None, None, "serverUrl", env),
            Self::Zed => form("Zed", "context_servers", None, None, "url", Token::Nowhere),
        }
    }

    /// What people call it.
    pub(super) fn name(self) -> &'static str {
        self.form().name
    }

    /// The group of settings that its servers are in.
    pub(super) fn section(self) -> &'static str {
        self.form().section
    }

    /// The scope where none is said. Connections are a person's, so it is hers where the client has one in a place that all of
    /// its installations share.
    pub(super) fn usual_scope(self) -> Scope {
        match self {
            Self::Roo | Self::Vscode => Scope::Project,
            _ => Scope::User,
        }
    }

    /// Its file; `None` where it has none of this scope, or this machine does not say where the user's folders are.
    pub(super) fn spot(self, scope: Scope, project: &Path) -> Option<Spot> {
        let below = match (scope, self) {
            (Scope::User, _) => return self.user_spot(),
            (Scope::Project, Self::ClaudeCode) => ".mcp.json",
            (Scope::Project, Self::Codex) => ".codex/config.toml",
            (Scope::Project, Self::Cursor) => ".cursor/mcp.json",
            (Scope::Project, Self::GeminiCli) => ".gemini/settings.json",
            (Scope::Project, Self::Roo) => ".roo/mcp.json",
            (Scope::Project, Self::Vscode) => ".vscode/mcp.json",
            (Scope::Project, Self::Zed) => ".zed/settings.json",
            (Scope::Project, Self::ClaudeDesktop | Self::Cline | Self::Windsurf) => return None,
        };
        Some(Spot { base: project.to_owned(), below: below.into(), scope })
    }

    fn user_spot(self) -> Option<Spot> {
        let (base, below) = match self {
            Self::ClaudeCode => (Config::folder("CLAUDE_CONFIG_DIR").or_else(Config::user)?, ".claude.json"),
            Self::ClaudeDesktop => (Config::applications()?, "Claude/claude_desktop_config.json"),
            Self::Cline => (Config::user()?, ".cline/data/settings/cline_mcp_settings.json"),
            Self::Codex => match Config::folder("CODEX_HOME") {
                Some(folder) => (folder, "config.toml"),
                None => (Config::user()?, ".codex/config.toml"),
            },
            Self::Cursor => (Config::user()?, ".cursor/mcp.json"),
            Self::GeminiCli => (Config::user()?, ".gemini/settings.json"),
            Self::Roo => return None,
            Self::Vscode => (Config::applications()?, "Code/User/mcp.json"),
            Self::Windsurf => (Config::user()?, ".codeium/windsurf/mcp_config.json"),
            Self::Zed => (Config::settings()?, "zed/settings.json"),
        };
        Some(Spot { base, below: below.into(), scope: Scope::User })
    }

    /// The entry of a server that it starts.
    pub(super) fn stdio(self, command: &str, args: &[String]) -> Entry {
        let kind = self.form().stdio.map(|kind| ("type", Setting::Text(kind.to_owned())));
        let command = ("command", Setting::Text(command.to_owned()));
        Entry(kind.into_iter().chain([command, ("args", Setting::List(args.to_vec()))]).collect())
    }

    /// The entry of a server that it calls by HTTP, with the variable that its token is in. `None` where it cannot.
    pub(super) fn http(self, url: &str, variable: &str) -> Option<Entry> {
        let Http { kind, url: key, token } = self.form().http?;
        let kind = kind.map(|kind| ("type", Setting::Text(kind.to_owned())));
        let token = match token {
            Token::Header(before, after) => {
                let value = format!("Bearer {before}{variable}{after}");
                Some(("headers", Setting::Map(vec![("Authorization".to_owned(), value)])))
            }
            Token::Variable(key) => Some((key, Setting::Text(variable.to_owned()))),
            Token::Nowhere => None,
        };
        let url = (key, Setting::Text(url.to_owned()));
        Some(Entry(kind.into_iter().chain([url]).chain(token).collect()))
    }

    /// Whether a file of its can name the variable that a token is in.
    pub(super) fn names_a_variable(self) -> bool {
        self.form().http.is_some_and(|http| !matches!(http.token, Token::Nowhere))
    }

    /// Puts an entry into the text of its file, or takes it out.
    pub(super) fn edit(self, text: &str, name: &str, entry: Option<&Entry>) -> Result<Edited, EditError> {
        match self {
            Self::Codex => toml::edit(text, self.section(), name, entry),
            _ => json::edit(text, self.section(), name, entry),
        }
    }
}
