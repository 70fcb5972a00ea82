//! A few lines in each supported language, as agents write them.

/// Language and code.
pub const SAMPLES: &[(&str, &str)] = &[
    (
        "rust",
        concat!(
            "/// Adds.\npub fn add(a: u32, b: &str) -> Option<u32> {\n",
            "    let n = b.parse::<u32>().ok()?; // maybe\n    Some(a + n * 2)\n}\n",
        ),
    ),
    (
        "typescript",
        concat!(
            "export interface Item { id: string; n?: number }\n// finds\n",
            "const find = async (items: Item[], id: string): Promise<Item | undefined> => {\n",
            "  return items.find((item) => item.id === `x${id}`);\n};\n",
        ),
    ),
    (
        "tsx",
        concat!(
            "export function View({ name }: { name: string }) {\n  const [n, setN] = useState<number>(0);\n",
            "  return <p className=\"x\" onClick={() => setN(n + 1)}>Hello {name}</p>;\n}\n",
        ),
    ),
    (
        "javascript",
        concat!(
            "import { a } from './a.js';\n/* all */\nfunction sum(list) {\n  let n = 0;\n",
            "  for (const x of list) n += x ?? 1;\n  return a(/x+/g, 'done', n);\n}\n",
        ),
    ),
    (
        "python",
        concat!(
            "import os\n\n@cached\ndef load(path: str) -> dict:\n    \"\"\"Reads it.\"\"\"\n",
            "    if not os.path.exists(path):\n        raise ValueError(f\"no {path}\")  # gone\n",
            "    return {\"n\": 1.5, \"ok\": True}\n",
        ),
    ),
    (
        "go",
        concat!(
            "package main\n\n// Add adds.\nfunc Add(a, b int) (int, error) {\n\tif a < 0 {\n",
            "\t\treturn 0, fmt.Errorf(\"bad %d\", a)\n\t}\n\treturn a + b, nil\n}\n",
        ),
    ),
    (
        "java",
        concat!(
            "package a.b;\n\npublic final class Box<T> {\n    private final T value; // kept\n",
            "    @Override public String toString() { return \"Box \" + value + 1; }\n}\n",
        ),
    ),
    (
        "c",
        concat!(
            "#include <stdio.h>\n/* main */\nint main(int argc, char **argv) {\n",
            "    for (int i = 0; i < argc; i++) printf(\"%s\\n\", argv[i]);\n    return 0;\n}\n",
        ),
    ),
    (
        "c++",
        concat!(
            "#include <vector>\ntemplate <typename T>\nclass Stack {\npublic:\n",
            "    void push(const T& value) { items.push_back(value); } // end\nprivate:\n",
            "    std::vector<T> items{};\n};\n",
        ),
    ),
    (
        "c#",
        concat!(
            "using System;\nnamespace App {\n    public record Item(string Name, int Count = 1);\n    // says\n",
            "    public static class Say { public static void Hi(Item i) => Console.WriteLine($\"{i.Name}\"); ",
            "}\n}\n",
        ),
    ),
    (
        "ruby",
        concat!(
            "# A box\nclass Box < Base\n  attr_reader :value\n  def initialize(value = nil)\n",
            "    @value = value || \"none #{1 + 2}\"\n  end\nend\n",
        ),
    ),
    (
        "php",
        concat!(
            "<?php\nnamespace App;\n// says\nfinal class Say {\n",
            "    public function hi(string $name): string { return \"Hi $name\" . 1; }\n}\n",
        ),
    ),
    (
        "swift",
        concat!(
            "import Foundation\n// A box\nstruct Box<T>: Equatable where T: Equatable {\n    let value: T\n",
            "    func describe() -> String { return \"Box \\(value)\" }\n}\n",
        ),
    ),
    (
        "kotlin",
        concat!(
            "package a.b\n/** A box. */\ndata class Box<T>(val value: T, var n: Int = 1) {\n",
            "    fun describe(): String = \"Box $value\"\n}\n",
        ),
    ),
    (
        "sql",
        concat!(
            "-- the newest\nSELECT s.id, count(*) AS n\nFROM session s LEFT JOIN item i ON i.session = s.id\n",
            "WHERE s.title LIKE 'a%' AND s.seq > 10\nGROUP BY s.id ORDER BY n DESC LIMIT 5;\n",
        ),
    ),
    (
        "bash",
        concat!(
            "#!/usr/bin/env bash\nset -euo pipefail\n# each\nfor file in \"$@\"; do\n",
            "  if [[ -f \"$file\" ]]; then echo \"${file%.txt}\" | sort -u > out.log; fi\ndone\n",
        ),
    ),
    (
        "powershell",
        concat!(
            "# each\nfunction Get-Size {\n    param([string]$Path = '.')\n",
            "    Get-ChildItem $Path | Where-Object { $_.Length -gt 10 } | ForEach-Object { \"$($_.Name)\" }\n",
            "}\n",
        ),
    ),
    (
        "json",
        "{\n  \"name\": \"demo\",\n  \"count\": 12,\n  \"ok\": true,\n  \"list\": [null, 1.5e3, \"\\n\"]\n}\n",
    ),
    (
        "yaml",
        concat!(
            "# build\nname: demo\non: [push]\njobs:\n  test:\n    runs-on: \"linux\"\n    steps:\n",
            "      - run: cargo test\n        env: { N: 1, OK: true }\n",
        ),
    ),
    (
        "toml",
        "# a package\n[package]\nname = \"demo\"\nedition = 2024\nok = true\nlist = [\"a\", 'b', 1.5]\n",
    ),
    (
        "html",
        "<!doctype html>\n<!-- page -->\n<div class=\"box\" id=main>\n  <a href=\"/x\">Text &amp; more</a>\n</div>\n",
    ),
    (
        "css",
        concat!(
            "/* box */\n.box > a:hover, #main {\n  color: #7aa2f7;\n  margin: 0 auto 1.5rem;\n",
            "  background: url(\"x.png\");\n}\n@media (min-width: 390px) { p { display: none; } }\n",
        ),
    ),
    (
        "dockerfile",
        concat!(
            "# build\nFROM rust:1 AS build\nWORKDIR /app\nCOPY . .\n",
            "RUN cargo build --release && echo \"done\"\nCMD [\"/app/x\"]\n",
        ),
    ),
    (
        "makefile",
        "# all\nCC := gcc\n.PHONY: all\nall: main.o util.o\n\t$(CC) -o $@ $^ # link\n\nclean:\n\trm -f *.o\n",
    ),
    (
        "diff",
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n same\n-old line\n+new line\n",
    ),
    (
        "markdown",
        "# Title\n\nSome **bold** and `code` with a [link](https://a.dev).\n\n- one\n- two\n\n> quote\n",
    ),
];
