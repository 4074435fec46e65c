/** The commands of the engine: syntax, number of arguments, who answers, since when (`help -j` of 7.1.1, 6 of the reference). */
import { addBan, listBans } from './commands/ban.js'
import { listBackends, setBackendHealth } from './commands/backend.js'
import type { AnswerCall, Call } from './commands/call.js'
import { resetParam, setParam, showParams } from './commands/param.js'
import {
  clearPanic,
  listStorage,
  ping,
  printBanner,
  quit,
  showListenAddress,
  showPanic,
  showPids,
  showStatus,
  showXid,
  startProcess,
  stopProcess,
} from './commands/process.js'
import { listDependencies, listVcls, showVcl } from './commands/vcl-list.js'
import { inlineVcl, loadVclFile } from './commands/vcl-load.js'
import { discardVcl, labelVcl, setVclState, useVcl } from './commands/vcl-state.js'
import type { Since } from '../release.js'
import { countArguments, firstJson, writeSyntax } from './command-syntax.js'
import type { EngineRelease } from './release.js'

export interface EngineCommand {
  readonly name: string
  readonly syntax: string
  readonly help: string
  /** Arguments behind a first -j; undefined: no upper bound. */
  readonly least: number
  readonly most: number | undefined
  readonly hasJson: boolean
  readonly isDebug: boolean
  /** The child answers: the manager repeats the words to it (management-protocol: 0). */
  readonly side: 'manager' | 'child'
  /** Before authentication too. */
  readonly isOpen: boolean
  readonly answer: AnswerCall
}

interface Row {
  readonly syntax: string
  readonly help: string
  readonly args: readonly [least: number, most?: number]
  readonly answer: AnswerCall
  readonly since?: Since
  /** Since when -j works; absent: never. */
  readonly json?: Since
  readonly side?: 'child'
  readonly isDebug?: true
  readonly isOpen?: true
}

/** What the state alone cannot do; the engine around it does it. */
export interface EngineDeeds {
  readonly authenticate: AnswerCall
  readonly help: AnswerCall
  readonly panicChild: AnswerCall
}

const noAnswer: AnswerCall = () => undefined

/** A command of which the child may die. */
function mayKill(deeds: EngineDeeds, answer: (call: Call) => 'died' | undefined): AnswerCall {
  return (call) => {
    if (answer(call) === 'died') deeds.panicChild(call)
  }
}

function listRows(deeds: EngineDeeds): readonly Row[] {
  return [
    {
      syntax: 'auth <response>',
      help: 'Authenticate.',
      args: [1, 1],
      answer: deeds.authenticate,
      isOpen: true,
    },
    {
      syntax: 'backend.list [-j] [-p] [<backend_pattern>]',
      help: 'List backends.\n',
      args: [0, 2],
      answer: mayKill(deeds, listBackends),
      json: [null, '6.1'],
      side: 'child',
    },
    {
      syntax: 'backend.set_health <backend_pattern> [auto|healthy|sick]',
      help: 'Set health status of backend(s) matching <backend_pattern>.',
      args: [2, 2],
      answer: mayKill(deeds, setBackendHealth),
      side: 'child',
    },
    {
      syntax: 'ban <field> <operator> <arg> [&& <field> <oper> <arg> ...]',
      help: 'Mark obsolete all objects where all the conditions match.',
      args: [3, Infinity],
      answer: mayKill(deeds, addBan),
      side: 'child',
    },
    {
      syntax: 'ban.list [-j]',
      help: 'List the active bans.',
      args: [0, 0],
      answer: listBans,
      json: firstJson,
      side: 'child',
    },
    { syntax: 'banner', help: 'Print welcome banner.', args: [0, 0], answer: printBanner },
    ...listDebugRows(deeds),
    {
      syntax: 'help [-j|<command>]',
      help: 'Show command/protocol help.',
      args: [0, 1],
      answer: deeds.help,
      json: ['6.0.0', '6.1'],
      isOpen: true,
    },
    {
      syntax: 'panic.clear [-z]',
      help: 'Clear the last panic, if any, -z will clear related varnishstat counter(s)',
      args: [0, 1],
      answer: clearPanic,
    },
    {
      syntax: 'panic.show [-j]',
      help: 'Return the last panic, if any.',
      args: [0, 0],
      answer: showPanic,
      json: firstJson,
    },
    {
      syntax: 'param.reset <param>',
      help: 'Reset parameter to default value.',
      args: [1, 1],
      answer: resetParam,
      since: ['6.0.5', '6.2'],
      json: [null, '7.5'],
    },
    {
      syntax: 'param.set [-j] <param> <value>',
      help: 'Set parameter value.',
      args: [2, 2],
      answer: setParam,
      json: [null, '7.1'],
    },
    {
      syntax: 'param.show [-l|-j] [<param>|changed]',
      help: 'Show parameters and their values.',
      args: [0, 2],
      answer: showParams,
      json: firstJson,
    },
    {
      syntax: 'pid [-j]',
      help: "Show the pid of the master process, and the worker if it's running.",
      args: [0, 0],
      answer: showPids,
      since: ['6.0.7', '6.4'],
      json: ['6.0.7', '6.4'],
    },
    {
      syntax: 'ping [-j] [<timestamp>]',
      help: 'Keep connection alive.',
      args: [0, 1],
      answer: ping,
      json: ['6.0.2', '6.1'],
      isOpen: true,
    },
    { syntax: 'quit', help: 'Close connection.', args: [0, 0], answer: quit, isOpen: true },
    {
      syntax: 'start',
      help: 'Start the Varnish cache process.',
      args: [0, 0],
      answer: startProcess,
    },
    {
      syntax: 'status [-j]',
      help: 'Check status of Varnish cache process.',
      args: [0, 0],
      answer: showStatus,
      json: firstJson,
    },
    { syntax: 'stop', help: 'Stop the Varnish cache process.', args: [0, 0], answer: stopProcess },
    {
      syntax: 'storage.list [-j]',
      help: 'List storage devices.',
      args: [0, 0],
      answer: listStorage,
      json: firstJson,
    },
    ...listVclRows(deeds),
  ]
}

function listDebugRows({ panicChild }: EngineDeeds): readonly Row[] {
  const debug = (syntax: string, help: string, rest: Omit<Row, 'syntax' | 'help'>): Row => ({
    side: 'child',
    isDebug: true,
    syntax,
    help,
    ...rest,
  })
  return [
    debug('debug.fragfetch', 'Enable fetch fragmentation.', { args: [1, 1], answer: noAnswer }),
    debug('debug.listen_address', 'Report the actual listen address.', {
      args: [0, 0],
      answer: showListenAddress,
    }),
    {
      syntax: 'debug.panic.master',
      help: 'Panic the master process.',
      args: [0, 0],
      isDebug: true,
      answer: ({ engine }) => {
        engine.managerDied = true
      },
    },
    debug('debug.panic.worker', 'Panic the worker process.', { args: [0, 0], answer: panicChild }),
    debug('debug.reqpool.fail', 'Schedule req-pool failures.', { args: [1, 1], answer: noAnswer }),
    debug('debug.shutdown.delay', 'Add a delay to the child process shutdown.', {
      args: [1, 1],
      answer: noAnswer,
    }),
    debug('debug.srandom', 'Seed the random(3) function.', { args: [0, 1], answer: noAnswer }),
    debug('debug.vmod', 'Show loaded vmods.', { args: [0, 0], answer: noAnswer }),
    debug('debug.xid [<xid> [<cachesize>]]', 'Examine or set XID. <cachesize> defaults to 1.', {
      args: [0, 2],
      answer: showXid,
    }),
  ]
}

function listVclRows(deeds: EngineDeeds): readonly Row[] {
  return [
    {
      syntax: 'vcl.deps [-j]',
      help: 'List all loaded configuration and their dependencies.',
      args: [0, 0],
      answer: listDependencies,
      since: [null, '6.6'],
      json: [null, '6.6'],
    },
    {
      syntax: 'vcl.discard <name_pattern>...',
      help: 'Unload the named configurations (when possible).',
      args: [1, Infinity],
      answer: discardVcl,
    },
    {
      syntax: 'vcl.inline <configname> <quoted_VCLstring> [auto|cold|warm]',
      help: 'Compile and load the VCL data under the name provided.',
      args: [2, 3],
      answer: inlineVcl,
    },
    {
      syntax: 'vcl.label <label> <configname>',
      help: 'Apply label to configuration.',
      args: [2, 2],
      answer: labelVcl,
    },
    {
      syntax: 'vcl.list [-j]',
      help: 'List all loaded configuration.',
      args: [0, 0],
      answer: listVcls,
      json: firstJson,
    },
    {
      syntax: 'vcl.load <configname> <filename> [auto|cold|warm]',
      help: 'Compile and load the VCL file under the name provided.',
      args: [2, 3],
      answer: loadVclFile,
    },
    {
      syntax: 'vcl.show [-v] [<configname>]',
      help: 'Display the source code for the specified configuration.',
      args: [0, 2],
      answer: mayKill(deeds, showVcl),
      side: 'child',
    },
    {
      syntax: 'vcl.state <configname> [auto|cold|warm]',
      help: '  Force the state of the named configuration.',
      args: [2, 2],
      answer: setVclState,
    },
    {
      syntax: 'vcl.symtab',
      help: 'Dump the VCL symbol-tables.',
      args: [0, 0],
      answer: noAnswer,
      since: [null, '6.3'],
      isDebug: true,
    },
    {
      syntax: 'vcl.use <configname|label>',
      help: 'Switch to the named configuration immediately.',
      args: [1, 1],
      answer: useVcl,
    },
  ]
}

export type CommandTable = ReadonlyMap<string, EngineCommand>

/** Commands of a release by name, in the order `help` prints them. */
export function createCommandTable(release: EngineRelease, deeds: EngineDeeds): CommandTable {
  const commands = listRows(deeds)
    .filter(({ since }) => since === undefined || release.has(since))
    .map((row) => toCommand(row, release))
  return new Map(commands.map((command) => [command.name, command]))
}

function toCommand(row: Row, release: EngineRelease): EngineCommand {
  const name = row.syntax.split(' ', 1)[0] ?? ''
  return {
    name,
    syntax: writeSyntax(name, row.syntax, release),
    help: row.help,
    ...countArguments(name, row.args, release),
    hasJson: row.json !== undefined && release.has(row.json),
    isDebug: row.isDebug ?? false,
    side: row.side ?? 'manager',
    isOpen: row.isOpen ?? false,
    answer: row.answer,
  }
}
