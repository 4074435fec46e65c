/**
 * What is below /usr/lib/cachefleet: programs, page and guides as `npm run build` left them, the runtime, and the libraries that are not
 * in the programs' files. Everything is found from there, so that it also runs where a package was only unpacked.
 */
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import { fetchPart } from './fetch-part.mjs'
import { root, run, runAny } from './run.mjs'
import { linkProgram } from './stage-services.mjs'

/** By what Debian calls them: what Node does. */
export const architectures = { amd64: 'x64', arm64: 'arm64' }
const home = 'usr/lib/cachefleet'
export const runtime = `/${home}/bin/node`
/** As the coordinator serves them (src/coordinator/controller/docs.ts). */
const documentation = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png']

/** `isLocal`: with this Node and the libraries of the checkout, which were compiled for it. */
export async function stageCommon(tree, arch, isLocal) {
  const target = join(tree, home)
  const node = architectures[arch]
  copyPrograms(join(target, 'dist'), (text) => text.replace(/^#!.*node$/m, () => `#!${runtime}`))
  writePackageFile(target, {})
  linkProgram(tree, 'cachefleetd')
  const modules = join(target, 'node_modules')
  copyLibrary(modules, 'swagger-ui-dist', documentation)
  copyLibrary(modules, '@node-rs/argon2', ['index.js'])
  await joinYaml(modules)
  const executable = join(target, 'bin', 'node')
  mkdirSync(dirname(executable), { recursive: true })
  if (isLocal) copyLocal(modules, executable, node)
  else copyParts(modules, executable, node)
  chmodSync(executable, 0o755)
  keepCompiled(executable, join(target, 'dist', 'bin'), node)
}

function copyParts(modules, executable, node) {
  const [argon2, argon2File] = nameArgon2(node)
  const sqlite = `prebuilds/linux-${node}.node`
  copyLibrary(modules, argon2, [argon2File], fetchPart(argon2))
  copyLibrary(modules, 'better-sqlite3-13', ['lib', sqlite])
  copyFileSync(join(fetchPart(`node-linux-${node}`), 'bin', 'node'), executable)
  strip(executable)
  for (const file of [`${argon2}/${argon2File}`, `better-sqlite3-13/${sqlite}`])
    strip(join(modules, file))
}

function copyLocal(modules, executable, node) {
  const [argon2, argon2File] = nameArgon2(node)
  copyLibrary(modules, argon2, [argon2File])
  copyLibrary(modules, 'better-sqlite3-13', ['lib', `prebuilds/linux-${node}.node`])
  if (process.versions.node.startsWith('20.')) {
    copyLibrary(modules, 'better-sqlite3', ['lib', 'build/Release/better_sqlite3.node'])
    // By which this version of it finds its file.
    copyLibrary(modules, 'bindings', ['bindings.js'])
    copyLibrary(modules, 'file-uri-to-path', ['index.js'])
  }
  copyFileSync(process.execPath, executable)
}

/** The package of its native code, and the file in it. */
function nameArgon2(node) {
  return [`@node-rs/argon2-linux-${node}-gnu`, `argon2.linux-${node}-gnu.node`]
}

/** `change`: the text of what is started. */
export function copyPrograms(target, change = (text) => text) {
  for (const part of ['bin', 'page', 'docs'])
    cpSync(join(root, 'dist', part), join(target, part), {
      recursive: true,
      // What this machine's Node made of them; and links, which a package has in /usr/bin.
      filter: (file) => !/\.cache$|\/bin\/cachefleetd?$/.test(file),
    })
  for (const name of ['cachefleetd.js', 'cachefleet.js']) {
    const file = join(target, 'bin', name)
    writeFileSync(file, change(readFileSync(file, 'utf8')))
    chmodSync(file, 0o755)
  }
}

/** `more`: what its reader needs beside what the programs do. */
export function writePackageFile(target, more) {
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const { name, version, description, license, type, engines, exports, bin } = own
  const text = { name, version, description, license, type, engines, exports, bin, ...more }
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(text, null, 2)}\n`)
}

function copyLibrary(modules, name, files, source = join(root, 'node_modules', name)) {
  for (const file of ['package.json', ...files]) {
    cpSync(join(source, file), join(modules, name, file), { recursive: true })
    // Debian has libraries that nobody may run.
    if (file.endsWith('.node')) chmodSync(join(modules, name, file), 0o644)
  }
}

/** One file of seventy: an agent reads its settings with it at each start. */
async function joinYaml(modules) {
  copyLibrary(modules, 'yaml', [])
  const outfile = join(modules, 'yaml', 'dist', 'index.js')
  const shared = { bundle: true, platform: 'node', format: 'cjs', logLevel: 'warning' }
  await build({ ...shared, entryPoints: ['yaml'], absWorkingDir: root, outfile })
}

/** Debug information is a sixth of the runtime. Without a program that can do it, it stays. */
function strip(file) {
  const by = runAny(['strip', 'llvm-strip'], ['--strip-unneeded', file])
  if (by === undefined) process.stderr.write(`${file} cannot be stripped here: it is larger\n`)
}

/** By the runtime itself, where it runs here; elsewhere programs are compiled at each start. */
function keepCompiled(executable, folder, node) {
  if (node !== process.arch) return
  const parts = readdirSync(folder).filter((name) => name.endsWith('.cjs'))
  const files = parts.toSorted().map((name) => join(folder, name))
  // V8 draws numbers for its tables: the same ones each time, so that two builds are equal.
  const flags = ['--hash-seed=1', '--random-seed=1']
  run(executable, [...flags, join(import.meta.dirname, 'compile.mjs'), ...files])
}
