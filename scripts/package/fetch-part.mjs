/**
 * What a package has beside the checkout: the runtime, and libraries with native code for it, by version and digest (parts.json). They
 * come through npm, are unpacked in `build/parts`, and stay there.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, run } from './run.mjs'

const parts = JSON.parse(readFileSync(new URL('./parts.json', import.meta.url), 'utf8'))
const folder = join(root, 'build', 'parts')

/** Its folder. Throws where npm does not have it, or has something else. */
export function fetchPart(name) {
  const { package: from = name, version, integrity } = parts[name]
  const target = join(folder, `${name.replace('/', '-').replace('@', '')}-${version}`)
  const marker = join(target, '.integrity')
  if (existsSync(marker) && readFileSync(marker, 'utf8') === integrity) return target
  const work = `${target}.${process.pid}`
  mkdirSync(work, { recursive: true })
  try {
    const words = ['pack', '--silent', `--pack-destination=${work}`, `${from}@${version}`]
    const archive = join(work, run('npm', words, { cwd: work }).trim().split('\n').at(-1))
    const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`
    if (found !== integrity)
      throw new Error(`${name} ${version} is not what parts.json says: its digest is ${found}`)
    run('tar', ['xf', archive, '-C', work, '--no-same-owner'])
    writeFileSync(join(work, 'package', '.integrity'), integrity)
    rmSync(target, { recursive: true, force: true })
    renameSync(join(work, 'package'), target)
    return target
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}
