//! Finds the grammar for a language name.

use syntect::parsing::{SyntaxReference, SyntaxSet};

/// By name, short name or file extension.
pub(super) fn grammar<'g>(grammars: &'g SyntaxSet, language: &str) -> Option<&'g SyntaxReference> {
    let known = name(&language.to_ascii_lowercase())?;
    grammars.syntaxes().iter().rev().find(|grammar| grammar.name == known)
}

/// Whether a language has a grammar, without loading any.
pub(super) fn is_known(language: &str) -> bool {
    name(&language.to_ascii_lowercase()).is_some()
}

fn name(language: &str) -> Option<&'static str> {
    Some(match language {
        "rust" | "rs" => "Rust",
        "typescript" | "ts" | "mts" | "cts" => "TypeScript",
        "tsx" | "typescriptreact" => "TypeScriptReact",
        "javascript" | "js" | "jsx" | "mjs" | "cjs" | "node" => "JavaScript (Babel)",
        "python" | "py" | "python3" | "py3" | "pyi" => "Python",
        "go" | "golang" => "Go",
        "gomod" | "go.mod" => "Gomod",
        "java" => "Java",
        "c" | "h" => "C",
        "c++" | "cpp" | "cc" | "cxx" | "hpp" | "hh" => "C++",
        "c#" | "csharp" | "cs" => "C#",
        "ruby" | "rb" => "Ruby",
        "php" => "PHP Source",
        "swift" => "Swift",
        "kotlin" | "kt" | "kts" => "Kotlin",
        "sql" | "mysql" | "postgres" | "postgresql" | "psql" | "sqlite" | "plsql" => "SQL",
        "bash" | "sh" | "shell" | "zsh" | "console" | "shellsession" | "shell-session" | "ksh" => {
            "Bourne Again Shell (bash)"
        }
        "powershell" | "ps1" | "pwsh" | "ps" => "PowerShell",
        "json" | "jsonc" | "json5" | "jsonl" | "ndjson" => "JSON",
        "yaml" | "yml" => "YAML",
        "toml" => "TOML",
        "html" | "htm" | "xhtml" => "HTML",
        "css" => "CSS",
        "scss" | "sass" | "less" => "SCSS",
        "dockerfile" | "docker" | "containerfile" => "Dockerfile",
        "makefile" | "make" | "mk" => "Makefile",
        "diff" | "patch" | "udiff" => "Diff",
        "markdown" | "md" | "mdx" => "Markdown",
        "xml" | "svg" | "xsd" | "plist" => "XML",
        "ini" | "cfg" | "conf" | "editorconfig" => "INI",
        "env" | "dotenv" => "DotENV",
        "properties" => "Java Properties",
        "cmake" => "CMake",
        "dart" => "Dart",
        "elixir" | "ex" | "exs" => "Elixir",
        "graphql" | "gql" => "GraphQL",
        "groovy" | "gradle" => "Groovy",
        "haskell" | "hs" => "Haskell",
        "julia" | "jl" => "Julia",
        "lua" => "Lua",
        "nix" => "Nix",
        "ocaml" | "ml" => "OCaml",
        "objective-c" | "objectivec" | "objc" => "Objective-C",
        "perl" | "pl" => "Perl",
        "protobuf" | "proto" => "Protocol Buffer",
        "r" => "R",
        "scala" => "Scala",
        "svelte" => "Svelte",
        "terraform" | "tf" | "hcl" => "Terraform",
        "vue" => "Vue Component",
        "zig" => "Zig",
        "nginx" => "nginx",
        "asm" | "nasm" | "x86asm" => "x86_64 Assembly",
        "awk" => "AWK",
        "bat" | "batch" | "cmd" => "Batch File",
        "clojure" | "clj" => "Clojure",
        "crystal" | "cr" => "Crystal",
        "csv" => "Separated Values",
        "erlang" | "erl" => "Erlang",
        "elm" => "Elm",
        "erb" => "HTML (Rails)",
        "fish" => "Fish",
        "fsharp" | "f#" | "fs" => "F#",
        "glsl" => "GLSL",
        "http" => "HTTP Request and Response",
        "jinja" | "jinja2" => "Jinja2",
        "jq" => "JQ",
        "latex" | "tex" => "LaTeX",
        "lisp" | "elisp" | "scheme" => "Lisp",
        "matlab" => "MATLAB",
        "nim" => "Nim",
        "pascal" | "delphi" => "Pascal",
        "regex" | "regexp" => "Regular Expression",
        "rst" => "reStructuredText",
        "solidity" | "sol" => "Solidity",
        "systemverilog" | "sv" => "SystemVerilog",
        "vhdl" => "VHDL",
        "vim" | "viml" => "VimL",
        "wgsl" => "WGSL",
        _ => return None,
    })
}
