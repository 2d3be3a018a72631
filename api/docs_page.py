"""The page at /docs: the same as /openapi.json, for people.

Never needs another file, a script or the internet.
"""

import json
import re
from collections.abc import Iterator
from html import escape
from typing import Any

STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b;background:#fff}
h2{margin:2.5rem 0 .5rem;padding-top:1rem;border-top:1px solid #ddd;font-size:1.15rem}
code,pre{font:14px/1.4 ui-monospace,monospace;background:#f4f4f2}code{padding:.1em .3em}
pre{padding:.8rem;overflow:auto}b.m{display:inline-block;min-width:3.5rem}
table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;padding:.3rem .8rem .3rem 0}
tr+tr td{border-top:1px solid #eee}summary{cursor:pointer;margin:.4rem 0}
@media(prefers-color-scheme:dark){body{background:#181818;color:#e6e6e6}code,pre{background:#262626}
h2,tr+tr td{border-color:#3a3a3a}a{color:#8ab4f8}}
"""

CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"


def page_of(document: dict[str, Any]) -> str:
    """The document as one HTML page."""
    info = document["info"]
    return "".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width,initial-scale=1">',
            f"<title>{escape(info['title'])} API</title><style>{STYLE}</style></head><body>",
            f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info.get('description', ''))}</p>",
            '<p>For programs: <a href="/openapi.json">/openapi.json</a> (OpenAPI 3.1).</p>',
            *_operations(document["paths"]),
            "<h2>Schemas</h2>",
            *(_folded(name, schema, name) for name, schema in sorted(document["components"]["schemas"].items())),
            "</body></html>",
        ]
    )


def _operations(paths: dict[str, Any]) -> Iterator[str]:
    for path, methods in paths.items():
        for method, operation in methods.items():
            yield f'<h2 id="{escape(operation["operationId"])}">{escape(operation["summary"])}</h2>'
            yield f'<p><b class="m">{method.upper()}</b> <code>{escape(path)}</code></p>'
            yield "".join(f"<p>{_text(paragraph)}</p>" for paragraph in operation.get("description", "").split("\n\n"))
            yield _parameters(operation.get("parameters", []))
            yield _body(operation.get("requestBody"))
            yield _answers(operation["responses"])


def _parameters(parameters: list[dict[str, Any]]) -> str:
    rows = (
        f"<tr><td><code>{escape(p['name'])}</code></td><td>{p['in']}{'' if p['required'] else ', optional'}</td>"
        f"<td>{_text(p['description'])}</td></tr>"
        for p in parameters
    )
    return f"<table>{''.join(rows)}</table>" if parameters else ""


def _body(body: dict[str, Any] | None) -> str:
    if body is None:
        return ""
    media_type, content = next(iter(body["content"].items()))
    example = f"<pre>{escape(json.dumps(content['example'], indent=2))}</pre>"
    return f"<p>Body: {_schema(content['schema'])} as <code>{media_type}</code>, for example</p>{example}"


def _answers(answers: dict[str, Any]) -> str:
    return "<table>" + "".join(_answer(status, answers[status]) for status in sorted(answers)) + "</table>"


def _answer(status: str, answer: dict[str, Any]) -> str:
    schemas = {_schema(content["schema"]) for content in answer.get("content", {}).values()}
    headers = ", ".join(f"<code>{escape(name)}</code>" for name in answer.get("headers", {}))
    cells = (status, _text(answer["description"]), " ".join(sorted(schemas)), headers)
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _text(text: str) -> str:
    """Words in backticks are code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _schema(schema: dict[str, Any]) -> str:
    name = schema.get("$ref", "").rpartition("/")[2]
    return f'<a href="#{escape(name)}">{escape(name)}</a>' if name else "file"


def _folded(title: str, content: dict[str, Any], anchor: str) -> str:
    text = escape(json.dumps(content, indent=2, ensure_ascii=False))
    return f'<details id="{escape(anchor)}"><summary><code>{escape(title)}</code></summary><pre>{text}</pre></details>'
