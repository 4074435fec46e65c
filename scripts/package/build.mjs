/**
 * `npm run package [amd64|arm64]…`: packages of the built checkout, in `build`: for Debian, which need neither compiler nor registry
 * where they are installed, and one for npm. Two builds of one commit by the same tools are byte for byte equal. For tests:
 *   --quick                not compressed: larger, and sooner there
 *   --local                with this machine's Node and the checkout's libraries: nothing is fetched, and only for its architecture
 *   --as VERSION           another version than the checkout's
 *   --into FOLDER          instead of `build`
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { packDeb } from './pack-deb.mjs'
import { packNpm } from './pack-npm.mjs'
import { architectures, stageCommon } from './stage-common.mjs'
import { stageAgent, stageClient, stageCoordinator } from './stage-services.mjs'
import { root, run } from './run.mjs'
import { writeDocumentation } from './write-documentation.mjs'

const { values, positionals } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    local: { type: 'boolean', default: false },
    as: { type: 'string' },
    into: { type: 'string', default: join(root, 'build') },
  },
  allowPositionals: true,
})
const possible = Object.keys(architectures).filter(
  (arch) => !values.local || architectures[arch] === process.arch,
)
const wanted = positionals.length > 0 ? positionals : possible
const unknown = wanted.find((arch) => !possible.includes(arch))
if (unknown !== undefined || wanted.length === 0) {
  const right = possible.map((arch) => JSON.stringify(arch)).join(' or ') || 'no --local'
  process.stderr.write(`there is no package for ${unknown ?? process.arch}: use ${right}\n`)
  process.exit(1)
}

const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const version = values.as ?? own.version
const isLocal = values.local
/** Seconds since 1970: when what is packed was written. */
const writtenAt =
  process.env.SOURCE_DATE_EPOCH ?? run('git', ['log', '-1', '--format=%ct'], { cwd: root }).trim()
const target = values.into
mkdirSync(target, { recursive: true })
const work = mkdtempSync(join(target, 'tree-'))
const needsCommon = [`cachefleet-common (= ${version})`]

/** What is the same on all architectures. */
const services = [
  {
    name: 'cachefleet-agent',
    stage: stageAgent,
    depends: [...needsCommon, 'systemd'],
    summary: 'agent of cachefleet, beside an HTTP cache',
    text: 'Deploys VCL to the Varnish Cache or Vinyl Cache of this host as its\n coordinator says, and keeps its state.',
  },
  {
    name: 'cachefleet-coordinator',
    stage: stageCoordinator,
    depends: [...needsCommon, 'systemd'],
    summary: 'coordinator of fleets of HTTP caches',
    text: 'Serves the API and the page, and tells the agents what to deploy.',
  },
  {
    name: 'cachefleet',
    stage: stageClient,
    depends: needsCommon,
    summary: 'command line client of cachefleet',
    text: 'Calls the API of a coordinator, with completion for bash, zsh and fish.',
  },
]
const common = wanted.map((arch) => ({
  name: 'cachefleet-common',
  arch,
  stage: (tree) => stageCommon(tree, arch, isLocal),
  // What the runtime and the libraries with native code are linked with.
  depends: ['libc6 (>= 2.34)', 'libgcc-s1', 'libstdc++6'],
  summary: 'programs and runtime of cachefleet',
  text: 'What agent, coordinator and client share, with a Node.js of its own.',
}))

try {
  for (const { stage, ...about } of [...common, ...services]) {
    const tree = join(work, `${about.name}-${about.arch ?? 'all'}`)
    mkdirSync(tree)
    await stage(tree)
    writeDocumentation(tree, { name: about.name, version, writtenAt, isLocal })
    const file = packDeb(tree, { ...about, version, writtenAt, target, isQuick: values.quick })
    process.stdout.write(`${file}\n`)
  }
  process.stdout.write(`${packNpm(work, { version, writtenAt, target })}\n`)
} finally {
  rmSync(work, { recursive: true, force: true })
}
