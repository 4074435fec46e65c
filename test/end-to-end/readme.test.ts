/** The README's tour, typed as written: every command works, with the output that the README shows. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { administrator, makeStateDir, startCoordinator } from '../support/daemon.js'
import { root } from '../support/root.js'
import { untilAgent } from './harness.js'

interface Typed {
  /** Includes all lines of a here-document. */
  readonly command: string
  /** The output shown below the command; empty if the README shows none. */
  readonly shown: string
}

/** The host on which the README was written. */
const host = 'vm'
const { bin } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
  readonly bin: { readonly cachefleet: string }
}
/** As `npm start` prints it, except for the folder. */
const client = join(root, bin.cachefleet)

void t.test('every command of the tour prints what the README shows', async (t) => {
  const folder = await makeStateDir(t)
  const passwordFile = join(folder, 'password')
  await writeFile(passwordFile, `${administrator.password}\n`, { mode: 0o600 })
  const { api, base } = await startCoordinator(t, { words: ['--name', host] })
  const agent = await untilAgent({ api }, 'Running', host)
  const shown = { address: 'http://127.0.0.1:8002', cache: 'http://127.0.0.1:30001' }
  const cache = `http://127.0.0.1:${agent.enginePort}`
  const toHere = (typed: string): string =>
    typed
      .replaceAll(shown.address, base)
      .replaceAll(shown.cache, cache)
      .replace('--user admin', `--user ${administrator.user}`)
      .replace(/--password-file \S+/, `--password-file ${passwordFile}`)
  const toShown = (output: string): string =>
    output.replaceAll(base, shown.address).replace(`as ${administrator.user}`, 'as admin')

  const tour = readTour(await readFile(join(root, 'README.md'), 'utf8'))
  t.ok(tour.length > 20, 'the tour was found')
  for (const { command, shown: wanted } of tour) {
    const { code, output } = await type(toHere(command), folder)
    const name = command.split('\n', 1)[0] ?? ''
    t.equal(code === 0, !wanted.startsWith('cachefleet: '), `${name}: exit code ${code}`, {
      output,
    })
    if (wanted !== '') t.equal(withoutChance(toShown(output)), withoutChance(wanted), name)
  }
})

/** The blocks below "Five minutes", except for the start of the coordinator itself. */
function readTour(readme: string): Typed[] {
  const chapter = /\n## Five minutes\n([^]*?)\n## /.exec(readme)?.[1] ?? ''
  return [...chapter.matchAll(/\n```\n([^]*?)\n```/g)].flatMap(([, block = '']) =>
    block.startsWith('$ npm start') ? [] : readBlock(block),
  )
}

function readBlock(block: string): Typed[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const command = /^(?:.*<<'VCL'\n[^]*?\nVCL|.*)/.exec(part)?.[0] ?? ''
      return { command, shown: part.slice(command.length).trim() }
    })
}

/** In a shell, like a new user. */
async function type(
  command: string,
  folder: string,
): Promise<{ readonly code: number; readonly output: string }> {
  const [, header, url] = /^curl (?:-H 'Host: (.*?)' )?(http\S+)$/.exec(command) ?? []
  if (url !== undefined) return { code: 0, output: await fetchText(url, header) }
  const script = `cachefleet() { '${process.execPath}' '${client}' "$@"; }\n${command}`
  const { PATH = '' } = process.env
  const child = spawn('bash', ['-c', `{ ${script}\n} 2>&1`], {
    cwd: folder,
    env: { PATH, HOME: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
  return { code: child.exitCode ?? -1, output: output.trim() }
}

/** Used instead of curl, which is not on every machine; fetch would not send another Host. */
function fetchText(url: string, name: string | undefined): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = name === undefined ? {} : { host: name }
    // A separate connection, as with curl: the cache closes an idle one after 5 s, which would break the next request.
    request(url, { headers, agent: false }, (answer) => {
      text(answer).then((output) => {
        resolve(output.trim())
      }, reject)
    })
      .on('error', reject)
      .end()
  })
}

/** Removes what differs between runs: trace ids, times, the cache's release, and the width of columns. */
function withoutChance(output: string): string {
  return output
    .replaceAll(/\b[0-9a-f]{32}\b/g, '<trace>')
    .replaceAll(/\b(?:now|\d+ s ago)\b/g, '<time>')
    .replaceAll(/(?<![.\d])\d+\.\d+\.\d+(?![.\d])/g, '<release>')
    .replaceAll(/ {2,}/g, ' ')
    .trim()
}
