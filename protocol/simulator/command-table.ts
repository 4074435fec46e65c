/** The engine's commands: syntax, number of arguments, manager or child, first release (`help -j` of 7.1.1, 6 of the reference). */
import type { Since } from '../release.js'
import { addBan, listBans } from './commands/ban.js'
import { listBackends, setBackendHealth } from './commands/backend.js'
import { ChildPanic, type AnswerCall, type Call } from './commands/call.js'
import { resetParam, setParam, showParams } from './commands/param.js'
import {
  clearPanic,
  listStorage,
  ping,
  printBanner,
  showListenAddress,
  showPanic,
  showPids,
  showStatus,
  showXid,
  startProcess,
  stopProcess,
} from './commands/process.js'
import { authenticate, help, quit } from './commands/session.js'
import { listDependencies, listVcls, showVcl } from './commands/vcl-list.js'
import { inlineVcl, loadVclFile } from './commands/vcl-load.js'
import { discardVcl, labelVcl, setVclState, useVcl } from './commands/vcl-state.js'
import {
  commitCertificates,
  discardCertificate,
  listCertificates,
  loadCertificate,
  reloadCertificates,
  rollBackCertificates,
} from './commands/tls.js'
import type { EngineRelease } from './release.js'

export interface EngineCommand {
  readonly name: string
  readonly syntax: string
  readonly help: string
  /** Number of arguments after a leading -j; undefined means no upper limit. */
  readonly least: number
  readonly most: number | undefined
  readonly hasJson: boolean
  readonly isDebug: boolean
  /** `child`: the manager forwards the words to the child (management-protocol: 0). */
  readonly side: 'manager' | 'child'
  /** Available before authentication. */
  readonly isOpen: boolean
  readonly answer: AnswerCall
}

/** In the order of `help`: each syntax with its help text below. */
const texts = String.raw`
auth <response>
  Authenticate.
backend.list [-j] [-p] [<backend_pattern>]
  List backends.\n
backend.set_health <backend_pattern> [auto|healthy|sick]
  Set health status of backend(s) matching <backend_pattern>.
ban <field> <operator> <arg> [&& <field> <oper> <arg> ...]
  Mark obsolete all objects where all the conditions match.
ban.list [-j]
  List the active bans.
banner
  Print welcome banner.
debug.fragfetch
  Enable fetch fragmentation.
debug.listen_address
  Report the actual listen address.
debug.panic.master
  Panic the master process.
debug.panic.worker
  Panic the worker process.
debug.reqpool.fail
  Schedule req-pool failures.
debug.shutdown.delay
  Add a delay to the child process shutdown.
debug.srandom
  Seed the random(3) function.
debug.vmod
  Show loaded vmods.
debug.xid [<xid> [<cachesize>]]
  Examine or set XID. <cachesize> defaults to 1.
help [-j|<command>]
  Show command/protocol help.
panic.clear [-z]
  Clear the last panic, if any, -z will clear related varnishstat counter(s)
panic.show [-j]
  Return the last panic, if any.
param.reset <param>
  Reset parameter to default value.
param.set [-j] <param> <value>
  Set parameter value.
param.show [-l|-j] [<param>|changed]
  Show parameters and their values.
pid [-j]
  Show the pid of the master process, and the worker if it's running.
ping [-j] [<timestamp>]
  Keep connection alive.
quit
  Close connection.
start
  Start the Varnish cache process.
status [-j]
  Check status of Varnish cache process.
stop
  Stop the Varnish cache process.
storage.list [-j]
  List storage devices.
tls.cert.commit
  Commit TLS configuration changes (loaded and/or discarded certs).
tls.cert.discard <cert-id>
  Discard TLS certificate. Ongoing sessions will be allowed to complete.
tls.cert.list [-s]
  List active TLS configurations.
tls.cert.load [cert-id] <filename> [-f frontend-name] [-k private-key-filename] [-p protos] [-c ciphers] [-s cipher-suites] [-o] [-d]
  Load TLS certificate.
tls.cert.reload
  Atomically reload all certificates.
tls.cert.rollback
  Clear TLS commands staged for commit. This is the inverse of commit.
vcl.deps [-j]
  List all loaded configuration and their dependencies.
vcl.discard <name_pattern>...
  Unload the named configurations (when possible).
vcl.inline <configname> <quoted_VCLstring> [auto|cold|warm]
  Compile and load the VCL data under the name provided.
vcl.label <label> <configname>
  Apply label to configuration.
vcl.list [-j]
  List all loaded configuration.
vcl.load <configname> <filename> [auto|cold|warm]
  Compile and load the VCL file under the name provided.
vcl.show [-v] [<configname>]
  Display the source code for the specified configuration.
vcl.state <configname> [auto|cold|warm]
    Force the state of the named configuration.
vcl.symtab
  Dump the VCL symbol-tables.
vcl.use <configname|label>
  Switch to the named configuration immediately.`

interface Behaviour {
  readonly answer: AnswerCall
  readonly side?: 'child'
  readonly isOpen?: true
  readonly since?: Since
  /** First release with -j; absent if none has it. */
  readonly json?: Since
  /** Number of arguments, if the syntax does not show it. */
  readonly args?: readonly [least: number, most: number | undefined]
}

/** Most commands got -j in the same releases; 6.1 is older than 6.0.2. */
const firstJson: Since = ['6.0.2', '6.2']
const pidSince: Since = ['6.0.7', '6.4']
const depsSince: Since = [null, '6.6']
/** Varnish only; Vinyl Cache lacks these commands. */
const tlsSince: Since = [null, '9.0']

const side = 'child'
const answer: AnswerCall = () => undefined

const behaviours: Readonly<Record<string, Behaviour>> = {
  auth: { answer: authenticate, isOpen: true },
  'backend.list': { answer: listBackends, json: [null, '6.1'], side },
  'backend.set_health': { answer: setBackendHealth, args: [2, 2], side },
  ban: { answer: addBan, args: [3, undefined], side },
  'ban.list': { answer: listBans, json: firstJson, side },
  banner: { answer: printBanner },
  'debug.fragfetch': { answer, args: [1, 1], side },
  'debug.listen_address': { answer: showListenAddress, side },
  'debug.panic.master': { answer: panicMaster },
  'debug.panic.worker': { answer: panicChild, side },
  'debug.reqpool.fail': { answer, args: [1, 1], side },
  'debug.shutdown.delay': { answer, args: [1, 1], side },
  'debug.srandom': { answer, args: [0, 1], side },
  'debug.vmod': { answer, side },
  'debug.xid': { answer: showXid, side },
  help: { answer: help, json: ['6.0.0', '6.1'], isOpen: true },
  'panic.clear': { answer: clearPanic },
  'panic.show': { answer: showPanic, json: firstJson },
  'param.reset': { answer: resetParam, since: ['6.0.5', '6.2'], json: [null, '7.5'] },
  'param.set': { answer: setParam, json: [null, '7.1'] },
  'param.show': { answer: showParams, json: firstJson },
  pid: { answer: showPids, since: pidSince, json: pidSince },
  ping: { answer: ping, json: ['6.0.2', '6.1'], isOpen: true },
  quit: { answer: quit, isOpen: true },
  start: { answer: startProcess },
  status: { answer: showStatus, json: firstJson },
  stop: { answer: stopProcess },
  'storage.list': { answer: listStorage, json: firstJson },
  'tls.cert.commit': { answer: commitCertificates, since: tlsSince },
  'tls.cert.discard': { answer: discardCertificate, since: tlsSince },
  'tls.cert.list': { answer: listCertificates, since: tlsSince },
  // Requires an id and a file; options that are not used here are refused.
  'tls.cert.load': { answer: loadCertificate, since: tlsSince, args: [2, 2] },
  'tls.cert.reload': { answer: reloadCertificates, since: tlsSince },
  'tls.cert.rollback': { answer: rollBackCertificates, since: tlsSince },
  'vcl.deps': { answer: listDependencies, since: depsSince, json: depsSince },
  'vcl.discard': { answer: discardVcl },
  'vcl.inline': { answer: inlineVcl },
  'vcl.label': { answer: labelVcl },
  'vcl.list': { answer: listVcls, json: firstJson },
  'vcl.load': { answer: loadVclFile },
  'vcl.show': { answer: showVcl, side },
  'vcl.state': { answer: setVclState, args: [2, 2] },
  'vcl.symtab': { answer, since: [null, '6.3'] },
  'vcl.use': { answer: useVcl },
}

function panicMaster({ engine }: Call): void {
  engine.managerDied = true
}

function panicChild(): never {
  throw new ChildPanic()
}

export type CommandTable = ReadonlyMap<string, EngineCommand>

/** The commands of a release by name. */
export function createCommandTable(release: EngineRelease): CommandTable {
  const commands = texts
    .trim()
    .split(/\n(?! )/)
    .map((text) => toCommand(text, release))
  return new Map(commands.flatMap((command) => (command ? [[command.name, command]] : [])))
}

function toCommand(text: string, release: EngineRelease): EngineCommand | null {
  const [newest = '', help = ''] = text.split('\n  ')
  const name = newest.split(' ', 1)[0] ?? ''
  const behaviour = behaviours[name]
  if (!behaviour) throw new TypeError(`no behaviour of ${name}`)
  if (behaviour.since && !release.has(behaviour.since)) return null
  const syntax = writeSyntax(name, newest, release)
  const [least, most] = behaviour.args ?? countArguments(syntax)
  return {
    name,
    syntax,
    least,
    most,
    help: help.replace('\\n', '\n'),
    hasJson: behaviour.json !== undefined && release.has(behaviour.json),
    isDebug: name.startsWith('debug.') || name === 'vcl.symtab',
    side: behaviour.side ?? 'manager',
    isOpen: behaviour.isOpen ?? false,
    answer: behaviour.answer,
  }
}

/** Counts the arguments of a syntax: two or three for `x <a> <b> [c]`; `...` means any number. */
function countArguments(syntax: string): readonly [least: number, most: number | undefined] {
  const words = syntax.replace(' [-j]', '')
  const least = words.split(' ').filter((word) => word.startsWith('<')).length
  const optional = words.split('[').length - 1
  return [least, words.includes('...') ? undefined : least + optional]
}

/** The syntax in releases without -j does not mention it; 6.0 promises one for backend.list, and 6.1 hides its own. */
function writeSyntax(name: string, syntax: string, { has }: EngineRelease): string {
  if (name === 'vcl.discard' && !has([null, '6.6'])) return 'vcl.discard <configname|label>'
  if (name === 'vcl.show' && !has([null, '7.1'])) return 'vcl.show [-v] <configname>'
  if (has(firstJson)) return syntax
  return name === 'param.show'
    ? 'param.show [-l] [<param>|changed]'
    : syntax.replace(' [-j]', '').replace('[-j|<command>]', '[<command>]')
}
