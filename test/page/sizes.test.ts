/** What the first load weighs: all that index.html names, packed (issue: at most 80 KB). */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const folder = fileURLToPath(new URL('../../dist/page/', import.meta.url))
const firstLoadMost = 80_000

void t.test('the first load is at most 80 KB', (t) => {
  const start = readFileSync(`${folder}index.html`, 'utf8')
  const parts = [...start.matchAll(/(?:src|href)="\/([^"]+)"/g)].map(([, path = '']) => path)
  const sizes = parts.map((path) => readFileSync(`${folder}${path}.gz`).length)
  const sum = start.length + sizes.reduce((bytes, size) => bytes + size, 0)

  t.ok(parts.length >= 3, parts.join())
  t.ok(sum <= firstLoadMost, `${sum} bytes`)
  t.end()
})
