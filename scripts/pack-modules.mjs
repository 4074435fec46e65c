/**
 * Makes one file of each library that consists of hundreds, in `dist/packed`, and lets what the compiler made for the tests load these:
 * finding and opening so many files was most of the start of a test. Types and source stay as they are.
 */
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const dist = join(root, 'dist')
const packed = join(dist, 'packed')
/** Of the kind that import nothing but their own files; by what they are imported as. */
const libraries = ['typebox', 'typebox/compile', 'kysely', 'jose', 'diff']

await build({
  absWorkingDir: root,
  entryPoints: libraries.map((name) => ({ in: name, out: toFileName(name) })),
  outdir: packed,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  logLevel: 'warning',
})
for (const folder of ['src', 'protocol', 'config', 'test'].map((name) => join(dist, name)))
  if (existsSync(folder)) for (const file of listCompiled(folder)) loadPacked(file)

function listCompiled(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .map((name) => join(folder, name))
}

/** The lines stay where they are, so that the source map still fits. */
function loadPacked(file) {
  const text = readFileSync(file, 'utf8')
  const changed = text.replaceAll(/ from '([^'.][^']*)';$/gm, (whole, name) =>
    libraries.includes(name)
      ? ` from '${relative(dirname(file), join(packed, `${toFileName(name)}.js`))}';`
      : whole,
  )
  if (changed !== text) writeFileSync(file, changed)
}

function toFileName(name) {
  return name.replace('/', '-')
}
