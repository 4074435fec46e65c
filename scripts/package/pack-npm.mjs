/** What `npm install FILE` takes: programs, page and guides as `npm run build` left them, and which libraries they need beside them. */
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, run } from './run.mjs'
import { copyPrograms, writePackageFile } from './stage-common.mjs'

/** What is not in the programs' files: native code, files that are served, and what is loaded when it is asked for. */
const libraries = ['@node-rs/argon2', 'better-sqlite3-13', 'swagger-ui-dist', 'yaml']
/** Is compiled where it is installed, and needed on Node 20 only: elsewhere a compiler may be missing. */
const optional = ['better-sqlite3']

/** Its file. Equal for equal contents, whoever packs it. */
export function packNpm(work, { version, writtenAt, target }) {
  const tree = join(work, 'npm', 'package')
  mkdirSync(tree, { recursive: true })
  copyPrograms(join(tree, 'dist'))
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const choose = (names) => Object.fromEntries(names.map((name) => [name, own.dependencies[name]]))
  const needed = { dependencies: choose(libraries), optionalDependencies: choose(optional) }
  writePackageFile(tree, { version, ...needed })
  for (const file of ['LICENSE', 'README.md', 'CHANGELOG.md'])
    copyFileSync(join(root, file), join(tree, file))
  const file = join(target, `cachefleet-${version}.tgz`)
  const uniform = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--format=ustar']
  const modes = ['--mode=u=rwX,go=rX', `--mtime=@${writtenAt}`]
  const words = [...uniform, ...modes, '--use-compress-program=gzip -n9']
  run('tar', ['-cf', file, ...words, '-C', join(work, 'npm'), 'package'])
  return file
}
