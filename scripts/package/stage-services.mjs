/** What agent, coordinator and client have beside what they share: units, users, settings, links and completion. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './run.mjs'

export function stageAgent(tree) {
  stageService(tree, 'agent', ['cachefleet-agent.service', 'cachefleet-agent@.service'])
  copy('systemd/cachefleet-agent.tmpfiles', tree, 'usr/lib/tmpfiles.d/cachefleet-agent.conf')
  // `cachefleetd enroll` writes what counts; until then all that is set is that a cache that serves goes on serving.
  writeSettings(tree, 'agent', (text) => text.replaceAll(/^(?=[^#\n])(?!takeover:)/gm, '# '))
  for (const folder of ['varnish.service.d', 'vinyl-cache.service.d'])
    copy(`systemd/${folder}`, tree, `usr/share/doc/cachefleet-agent/examples/${folder}`)
}

export function stageCoordinator(tree) {
  stageService(tree, 'coordinator', ['cachefleet-coordinator.service'])
  writeSettings(tree, 'coordinator', (text) => text)
  for (const file of ['alert-rules.yaml', 'grafana-dashboard.json'])
    copy(`config/${file}`, tree, `usr/share/doc/cachefleet-coordinator/examples/${file}`)
}

export function stageClient(tree) {
  linkProgram(tree, 'cachefleet')
  const folder = 'usr/share/doc/cachefleet/examples'
  copy('config/example-fleet', tree, `${folder}/example-fleet`)
  const completions = {
    bash: 'usr/share/bash-completion/completions/cachefleet',
    zsh: 'usr/share/zsh/vendor-completions/_cachefleet',
    fish: 'usr/share/fish/vendor_completions.d/cachefleet.fish',
  }
  for (const [shell, file] of Object.entries(completions)) write(tree, file, printCompletion(shell))
}

/** By the Node that builds: the package's own may be for another machine. */
function printCompletion(shell) {
  const words = [join(root, 'dist/bin/cachefleet.js'), 'completion', shell]
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`no completion for ${shell}: ${stderr}`)
  return stdout
}

export function linkProgram(tree, name) {
  const folder = join(tree, 'usr/bin')
  mkdirSync(folder, { recursive: true })
  symlinkSync(`../lib/cachefleet/dist/bin/${name}.js`, join(folder, name))
}

function stageService(tree, kind, units) {
  for (const unit of units) copy(`systemd/${unit}`, tree, `usr/lib/systemd/system/${unit}`)
  const name = `cachefleet-${kind}`
  copy(`systemd/${name}.sysusers`, tree, `usr/lib/sysusers.d/${name}.conf`)
}

function writeSettings(tree, kind, change) {
  const text = readFileSync(join(root, 'config', `${kind}.example.yaml`), 'utf8')
  const file = `etc/cachefleet/${kind}.yaml`
  write(tree, file, change(text.replace(`--config ${kind}.example.yaml`, `--config /${file}`)))
}

function copy(source, tree, path) {
  cpSync(join(root, source), join(tree, path), { recursive: true })
}

function write(tree, path, text) {
  mkdirSync(dirname(join(tree, path)), { recursive: true })
  writeFileSync(join(tree, path), text)
}
