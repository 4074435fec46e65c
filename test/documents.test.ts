/** References in documents resolve: links and their anchors, and the sections that comments cite. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { root } from './support/root.js'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const list = (folder: string, form: RegExp): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => form.test(path))
    .map((path) => join(folder, path))

const documents = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...list('docs', /\.md$/),
  'protocol/README.md',
]

void t.test('every link of a document leads to an existing file and heading', (t) => {
  for (const path of documents) {
    const links = [...withoutCode(read(path)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, to = '']) => to)
    for (const link of links.filter((to) => !to.includes('://'))) {
      const [file = '', anchor] = link.split('#')
      const target = file === '' ? path : join(dirname(path), file)
      t.ok(existsSync(join(root, target)), `${path}: ${link}`)
      if (anchor !== undefined) t.ok(listAnchors(target).includes(anchor), `${path}: ${link}`)
    }
  }
  t.end()
})

void t.test('no comment cites what is not in the repository', (t) => {
  const sources = ['src', 'config', 'protocol', 'scripts', 'test'].flatMap((folder) =>
    list(folder, /\.(?:tsx?|mjs)$/),
  )
  // Issues of the cache itself are public.
  const cited = /(?<!varnish-cache )\bissue \d+\b(?! of the cache)|\*\* ?choices:/i
  t.strictSame(
    sources.filter((path) => path !== 'test/documents.test.ts' && cited.test(read(path))),
    [],
  )
  t.end()
})

void t.test('every cited section of behaviour.md exists', (t) => {
  const headings = listHeadings('docs/behaviour.md')
  t.equal(new Set(headings).size, headings.length, 'headings are unique')
  const sources = ['src', 'config', 'protocol', 'test'].flatMap((folder) => list(folder, /\.tsx?$/))
  for (const path of sources)
    for (const [, cited = ''] of read(path).matchAll(/docs\/behaviour\.md, ([A-Z][^).:;,]*)/g))
      for (const section of cited.split(/ and (?=[A-Z])/))
        t.ok(headings.includes(section.trim()), `${path}: ${section}`)
  t.end()
})

function withoutCode(markdown: string): string {
  return markdown.replaceAll(/^```[^]*?^```/gm, '').replaceAll(/`[^`]*`/g, '')
}

function listHeadings(path: string): string[] {
  return [...withoutCode(read(path)).matchAll(/^#{2,} (.+)$/gm)].map(([, heading = '']) => heading)
}

/** Anchors as GitHub generates them. */
function listAnchors(path: string): string[] {
  return listHeadings(path).map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^a-z0-9 -]/g, '')
      .replaceAll(' ', '-'),
  )
}
