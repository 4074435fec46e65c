/**
 * Makes HTML of the guides in `docs/`, in `dist/docs`, for coordinators to serve below `/docs`
 * (`src/coordinator/controller/guides.ts`). Headings get the anchors that GitHub gives them.
 */
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Marked } from 'marked'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const source = join(root, 'docs')
const target = join(root, 'dist', 'docs')
/** Decisions are for those who change the program, and have the repository. */
const guides = readdirSync(source).filter((name) => name.endsWith('.md'))

const marked = new Marked({
  renderer: {
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${toAnchor(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
    },
    link({ href, tokens }) {
      const inner = this.parser.parseInline(tokens)
      const to = toServed(href)
      return to === null ? inner : `<a href="${escapeHtml(to)}">${inner}</a>`
    },
  },
})

rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })
for (const name of guides) {
  const markdown = readFileSync(join(source, name), 'utf8')
  const title = /^# (.+)$/m.exec(markdown)?.[1] ?? name
  writeFileSync(join(target, toHtmlName(name)), wrap(title, marked.parse(markdown)))
}
cpSync(join(root, 'scripts', 'docs.css'), join(target, 'guide.css'))

function wrap(title, body) {
  const links = guides.map((name) => `<a href="./${toHtmlName(name)}">${name.slice(0, -3)}</a>`)
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>${escapeHtml(title)} · cachefleet</title>
    <link rel="stylesheet" href="./guide.css" />
  </head>
  <body>
    <nav>${links.join(' ')} <a href="./index.html">API</a></nav>
    <main>
${body}
    </main>
  </body>
</html>
`
}

/** Null for what is not served: other files of the repository. */
function toServed(href) {
  if (/^(?:https?:|#)/.test(href)) return href
  const [file, anchor] = href.split('#')
  if (!guides.includes(file)) return null
  return `./${toHtmlName(file)}${anchor === undefined ? '' : `#${anchor}`}`
}

function toHtmlName(name) {
  return name.replace(/\.md$/, '.html')
}

function toAnchor(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-')
}

function escapeHtml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
