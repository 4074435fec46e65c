/** A package of a folder: control files, modes and times that do not depend on who builds it. */
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { run } from './run.mjs'
import { maintainer } from './write-documentation.mjs'

const scripts = ['postinst', 'prerm', 'postrm']
const executable = 0o100

/** Its file. */
export function packDeb(tree, about) {
  const { name, version, arch = 'all', writtenAt, target, isQuick } = about
  const entries = readdirSync(tree, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  const files = entries.filter((file) => lstatSync(file).isFile())
  const control = join(tree, 'DEBIAN')
  mkdirSync(control)
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0)
  writeFileSync(join(control, 'control'), printControl(about, arch, Math.ceil(bytes / 1024)))
  writeFileSync(join(control, 'md5sums'), files.map((file) => sumLine(tree, file)).join(''))
  const settings = files.map((file) => `/${relative(tree, file)}\n`).filter(isSetting)
  if (settings.length > 0) writeFileSync(join(control, 'conffiles'), settings.join(''))
  for (const script of scripts) {
    const source = join(import.meta.dirname, 'maintainer-scripts', `${name}.${script}`)
    if (!existsSync(source)) continue
    writeFileSync(join(control, script), readFileSync(source))
    chmodSync(join(control, script), 0o755)
  }
  makeUniform(tree, Number(writtenAt))
  const file = join(target, `${name}_${version}_${arch}.deb`)
  const packing = isQuick ? ['-Znone'] : ['-Zxz']
  // More threads would pack in blocks, as many as there are cores.
  const words = ['--root-owner-group', '--threads-max=1', ...packing, '--build', tree, file]
  run('dpkg-deb', words, { env: { ...process.env, SOURCE_DATE_EPOCH: writtenAt } })
  return file
}

function printControl({ name, version, depends, summary, text }, arch, kilobytes) {
  return `Package: ${name}
Version: ${version}
Architecture: ${arch}
Maintainer: ${maintainer}
Installed-Size: ${kilobytes}
Depends: ${depends.join(', ')}
Section: net
Priority: optional
Homepage: https://github.com/cachefleet/cachefleet
Description: ${summary}
 ${text}
`
}

function isSetting(line) {
  return line.startsWith('/etc/')
}

/** By what `dpkg --verify` looks whether a file is as it was. */
function sumLine(tree, file) {
  const sum = createHash('md5').update(readFileSync(file)).digest('hex')
  return `${sum}  ${relative(tree, file)}\n`
}

/** Whatever the builder's umask and clock were. */
function makeUniform(tree, seconds) {
  const inside = readdirSync(tree, { recursive: true, encoding: 'utf8' })
  for (const file of ['', ...inside].map((name) => join(tree, name))) {
    const about = lstatSync(file)
    if (!about.isSymbolicLink())
      chmodSync(file, about.isDirectory() || about.mode & executable ? 0o755 : 0o644)
    lutimesSync(file, seconds, seconds)
  }
}
