/**
 * Builds the page: `src/page` into `dist/page`, with Node's built-ins and esbuild. Scripts and the one style sheet have
 * their digests in their names; each lies there packed too. Prints what the first load weighs.
 */
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const source = join(root, 'src', 'page')
const target = join(root, 'dist', 'page')

rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })

const shared = {
  absWorkingDir: root,
  outdir: target,
  bundle: true,
  minify: true,
  metafile: true,
  platform: 'browser',
  target: 'es2023',
  entryNames: 'assets/[name]-[hash]',
  chunkNames: 'assets/[name]-[hash]',
  logLevel: 'warning',
  legalComments: 'none',
}
const results = await Promise.all([
  build({
    ...shared,
    entryPoints: [join(source, 'main.tsx'), join(source, 'first-paint.ts')],
    format: 'esm',
    splitting: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
  }),
  build({
    ...shared,
    entryPoints: [join(source, 'mark.svg')],
    loader: { '.svg': 'copy' },
  }),
  build({
    ...shared,
    stdin: { contents: gatherStyles(), loader: 'css', resolveDir: source, sourcefile: 'page.css' },
    // Without a name of its own the standard input is called "stdin".
    entryNames: 'assets/page-[hash]',
  }),
])

const outputs = Object.assign({}, ...results.map(({ metafile }) => metafile.outputs))
const script = findOutput('src/page/main.tsx')
const firstPaint = findOutput('src/page/first-paint.ts')
const mark = findOutput('src/page/mark.svg')
const style = Object.keys(outputs).find((file) => file.endsWith('.css'))
const early = [...followImports(script)]
const start = readFileSync(join(source, 'index.html'), 'utf8')
  .replace('{{mark}}', toPath(mark))
  .replace('{{style}}', toPath(style))
  .replace('{{first-paint}}', toPath(firstPaint))
  .replace('{{script}}', toPath(script))
  .replace(
    '{{preloads}}',
    early.map((file) => `<link rel="modulepreload" href="${toPath(file)}" />`).join('\n    '),
  )
writeFileSync(join(target, 'index.html'), start)

const sizes = new Map(Object.keys(outputs).map((file) => [file, pack(join(root, file))]))
const first = [mark, script, firstPaint, style, ...early]
const sum = first.reduce((bytes, file) => bytes + sizes.get(file), 0)
for (const [file, bytes] of [...sizes].sort(([, a], [, b]) => b - a).slice(0, 12))
  process.stderr.write(`${kilobytes(bytes)} ${relative('dist/page/assets', file)}\n`)
process.stderr.write(`${kilobytes(sum)} first load, gzip\n`)

/** Tokens before what uses them, parts before views: the order of the cascade. */
function gatherStyles() {
  const order = ['styles', 'parts', 'shell', 'session', 'commands', 'views']
  const place = (file) => order.indexOf(file.split('/')[0])
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.css'))
    .sort((a, b) => place(a) - place(b) || rank(a) - rank(b) || a.localeCompare(b))
  return files.map((file) => `@import './${file}';`).join('\n')
}

function rank(file) {
  return file === 'styles/tokens.css' ? 0 : 1
}

function findOutput(entry) {
  return Object.keys(outputs).find((file) => outputs[file].entryPoint === entry)
}

/** What the script cannot start without. */
function followImports(file, found = new Set()) {
  for (const { path, kind } of outputs[file].imports)
    if (kind === 'import-statement' && !found.has(path)) followImports(path, found.add(path))
  return found
}

function toPath(file) {
  return `/${relative('dist/page', file)}`
}

function pack(file) {
  const packed = gzipSync(readFileSync(file), { level: 9 })
  writeFileSync(`${file}.gz`, packed)
  return packed.length
}

function kilobytes(bytes) {
  return `${(bytes / 1000).toFixed(1).padStart(7)} KB`
}
