/** ping, banner, status, pid, start, stop, panic.*, storage.list, and the debug commands with output. */
import { varnish, vinyl } from '../../product.js'
import { cliStatus } from '../../status.js'
import { startChild, type EngineState } from '../engine-state.js'
import type { EngineRelease } from '../release.js'
import { quoteJson } from '../reply-text.js'
import type { Call } from './call.js'

export function ping({ reply, words, nowMs, isJson }: Call): void {
  if (isJson) reply.beginJson(2, words, nowMs).out(', "PONG"\n').endJson()
  else reply.out(`PONG ${Math.floor(nowMs / 1000)} 1.0`)
}

const rule = '-----------------------------\n'

/** Line 4 contains platform, jail and storage, line 5 version and revision (mgt_cli.c mcf_banner). */
export function printBanner({ engine, reply }: Pick<Call, 'engine' | 'reply'>): void {
  // Shared by both products: only the version line distinguishes them.
  const hasNewTitle = engine.release.has([null, '9.0'])
  const storage = engine.setup.storage.map(({ kind }) => `-s${kind}`).join(',')
  reply
    .out(`${rule}${hasNewTitle ? vinyl.title : varnish.title} CLI 1.0\n${rule}`)
    .out(`Linux,simulated,x86_64,-jnone,${storage},-sdefault,-hcritbit\n`)
    .out(`${nameRelease(engine.release)}\n\n`)
    .out("Type 'help' for command list.\nType 'quit' to close CLI session.\n")
  if (engine.child === undefined) reply.out("Type 'start' to launch worker process.\n")
}

const nameRelease = ({ product, version }: EngineRelease) =>
  `${product.versionName}-${version} revision ${'0'.repeat(40)}`

const stateOf = (engine: EngineState) => (engine.child === undefined ? 'stopped' : 'running')

export function showStatus({ engine, reply, words, nowMs, isJson }: Call): void {
  if (isJson)
    reply
      .beginJson(2, words, nowMs)
      .out(', ')
      .out(quoteJson(stateOf(engine)))
      .endJson()
  else reply.out(`Child in state ${stateOf(engine)}`)
}

export function showPids({ engine, reply, words, nowMs, isJson }: Call): void {
  const { masterPid: master, child } = engine
  if (isJson) {
    const worker = child === undefined ? '' : `, "worker": ${child.pid}`
    reply.beginJson(2, words, nowMs).out(`,\n  {"master": ${master}${worker}`).out('}').endJson()
    return
  }
  reply.out(`Master: ${String(master).padStart(10)}\n`)
  if (child !== undefined) reply.out(`Worker: ${String(child.pid).padStart(10)}\n`)
}

export function startProcess({ engine, reply, nowMs, nextPid }: Call): void {
  if (engine.child !== undefined) reply.refuse(cliStatus.cannot, 'Child in state running')
  else if (engine.programs.length === 0) reply.refuse(cliStatus.cannot, 'No VCL loaded')
  else if (engine.active === undefined) reply.refuse(cliStatus.cannot, 'No active VCL')
  else if (engine.programs.some(({ initFailure }) => initFailure !== undefined))
    reply.refuse(cliStatus.cannot, '') // the reason is only in the log
  else startChild(engine, nextPid(), nowMs)
}

export function stopProcess({ engine, reply }: Call): void {
  if (engine.child === undefined) reply.refuse(cliStatus.cannot, 'Child in state stopped')
  else engine.child = undefined
}

export function showPanic({ engine, reply, words, nowMs, isJson }: Call): void {
  if (engine.panic === undefined)
    reply.refuse(cliStatus.cannot, 'Child has not panicked or panic has been cleared')
  else if (isJson)
    reply.beginJson(2, words, nowMs).out(',\n').out(quoteJson(engine.panic)).endJson()
  else reply.out(`${engine.panic}\n`)
}

export function clearPanic({ engine, reply, args }: Call): void {
  const [flag] = args
  if (flag !== undefined && flag !== '-z')
    reply.refuse(cliStatus.parameter, `Unknown parameter "${flag}".`)
  else if (engine.panic === undefined && flag === undefined)
    reply.refuse(cliStatus.cannot, 'No panic to clear')
  else engine.panic = undefined
}

export function listStorage({ engine, reply, words, nowMs, isJson }: Call): void {
  const devices = [...engine.setup.storage, { name: 'Transient', kind: 'malloc' }]
  if (!isJson) {
    reply.out('Storage devices:\n')
    for (const { name, kind } of devices) reply.out(`\tstorage.${name} = ${kind}\n`)
    return
  }
  reply.beginJson(2, words, nowMs).out(',\n')
  devices.forEach(({ name, kind }, at) => {
    reply
      .out(at === 0 ? '' : ',\n')
      .out('{\n')
      .indent(2)
    reply.out(`"name": "${name}",\n`).out(`"storage": "${kind}"`).indent(-2).out('\n}')
  })
  reply.endJson()
}

export function showListenAddress({ engine, reply }: Call): void {
  reply.out(`a0 ${engine.setup.listenAddress}\n`)
}

export function showXid({ reply, args }: Call): void {
  reply.out(`XID is ${args[0] ?? 0} chunk ${args[0] === undefined ? 32_768 : (args[1] ?? 1)}`)
}

/** A panic text for panic.show, with the first lines of a real one. */
export function printPanic(reason: string, release: EngineRelease, nowMs: number): string {
  return [
    `Panic at: ${new Date(nowMs).toUTCString()}\n`,
    `Assert error in ${reason}(), simulated.c line 1:\n`,
    '  Condition(0) not true.\n',
    `version = ${nameRelease(release)}, vrt api = 15.0\n`,
    'ident = Linux,simulated,x86_64,-jnone,-sdefault,-hcritbit,epoll\n',
  ].join('')
}
