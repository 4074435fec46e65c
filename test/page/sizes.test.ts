/** The compressed size of the page: all files that index.html names (at most 45 KB), and with an editor (at most 220 KB). */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { root } from '../support/root.js'

const folder = join(root, 'dist/page/')
const maxFirstLoadBytes = 45_000
const maxWithEditorBytes = 220_000

void t.test('the first load is at most 45 KB', (t) => {
  const parts = listFirstLoad()
  const bytes = weigh(parts)

  t.ok(parts.length >= 3, parts.join())
  t.ok(bytes <= maxFirstLoadBytes, `${bytes} bytes`)
  t.end()
})

void t.test('with the editor, it is at most 220 KB', (t) => {
  const views = readdirSync(`${folder}assets`).filter((name) => /^file-\w+\.js$/.test(name))
  const parts = new Set(listFirstLoad())
  for (const name of views) followImports(name, parts)
  const bytes = weigh([...parts])

  t.equal(views.length, 1)
  t.ok(bytes > 100_000, 'the editor is included')
  t.ok(bytes <= maxWithEditorBytes, `${bytes} bytes`)
  t.end()
})

function listFirstLoad(): readonly string[] {
  const start = readFileSync(`${folder}index.html`, 'utf8')
  return [...start.matchAll(/(?:src|href)="\/([^"]+)"/g)].map(([, path = '']) => path)
}

/** Adds everything that the script needs at its start to `found`. */
function followImports(name: string, found: Set<string>): void {
  const path = `assets/${name}`
  if (found.has(path)) return
  found.add(path)
  const text = readFileSync(`${folder}${path}`, 'utf8')
  for (const [, next = ''] of text.matchAll(/(?:from|import)"\.\/([\w.-]+)"/g))
    followImports(next, found)
}

function weigh(parts: readonly string[]): number {
  const start = readFileSync(`${folder}index.html`).length
  const sizes = parts.map((path) => readFileSync(`${folder}${path}.gz`).length)
  return start + sizes.reduce((bytes, size) => bytes + size, 0)
}
