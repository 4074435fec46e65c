/** The cache's two processes and the session: ping, status, pid, start, panic, storage, help (mgt_child.c). */

import { expectJson, expectOk, expectText, garbledAnswer, type Command } from '../command.js'
import { replyText, type Reply } from '../frame.js'
import {
  expectRows,
  numberOrNull,
  readNumber,
  readObject,
  readString,
  textOrNull,
} from '../json.js'
import { cliStatus } from '../status.js'

/** Only `running` and `stopped` were ever seen, because a state change takes place within one step of the manager. */
export type ChildState = 'stopped' | 'starting' | 'running' | 'stopping' | 'died'

export interface ProcessIds {
  readonly master: number
  /** Null while the child is stopped. A new value means that bans and health overrides are lost. */
  readonly worker: number | null
}

export interface Storage {
  readonly name: string
  /** For example `malloc` or `file`. */
  readonly kind: string
}

export interface HelpEntry {
  readonly name: string
  readonly syntax: string
  readonly hasJson: boolean
}

/** Returns the cache's time in Unix seconds. The manager responds without the child; the text is the same in all releases. */
export function ping(): Command<number> {
  return { name: 'ping', line: 'ping', parse: parsePing }
}

export function childStatus(): Command<ChildState> {
  return { name: 'status', line: 'status -j', parse: parseStatus }
}

/** From 6.0.7 and 6.4. */
export function processIds(): Command<ProcessIds> {
  return { name: 'pid', line: 'pid -j', parse: parsePid }
}

/** Rejected (300) if the child is running, no VCL is in use, or its VCL fails to start (then without a message). */
export function startChild(): Command<void> {
  return { name: 'start', line: 'start', parse: expectOk }
}

/** The message of the child's last panic; null if there was none or it was cleared. Text in all releases. */
export function panicShow(): Command<string | null> {
  return {
    name: 'panic.show',
    line: 'panic.show',
    parse: (reply, name) =>
      isRefusedWith(reply, 'Child has not panicked') ? null : expectText(reply, name),
  }
}

/** Returns false if there was no panic. */
export function panicClear(): Command<boolean> {
  return {
    name: 'panic.clear',
    line: 'panic.clear',
    parse: (reply, name) => {
      if (isRefusedWith(reply, 'No panic to clear')) return false
      expectOk(reply, name)
      return true
    },
  }
}

export function storageList(): Command<readonly Storage[]> {
  return {
    name: 'storage.list',
    line: 'storage.list -j',
    parse: (reply, name) =>
      expectRows(reply, name).map((row) => ({
        name: readString(row, 'name', name),
        kind: readString(row, 'storage', name),
      })),
  }
}

export function help(): Command<readonly HelpEntry[]> {
  return {
    name: 'help',
    line: 'help -j',
    parse: (reply, name) =>
      expectRows(reply, name).map((row) => ({
        name: readString(row, 'request', name),
        syntax: readString(row, 'syntax', name),
        hasJson: row['json'] === true,
      })),
  }
}

function parsePing(reply: Reply, name: string): number {
  const time = /^PONG (\d+)/.exec(expectText(reply, name))?.[1]
  if (time === undefined) throw garbledAnswer(name, 'it is not PONG and a time')
  return Number(time)
}

function parseStatus(reply: Reply, name: string): ChildState {
  return readChildState(textOrNull(expectJson(reply, name).payload[0]), name)
}

function parsePid(reply: Reply, name: string): ProcessIds {
  const ids = readObject(expectJson(reply, name).payload[0], name)
  return { master: readNumber(ids, 'master', name), worker: numberOrNull(ids['worker']) }
}

export function readChildState(word: string | null, command: string): ChildState {
  // The manager's text for the last state is `died, (restarting)`.
  const state = /^(stopped|starting|running|stopping|died)\b/.exec(word ?? '')?.[1]
  if (state === undefined) throw garbledAnswer(command, 'it names no state of a child')
  return state as ChildState // one of the pattern's words
}

function isRefusedWith(reply: Reply, words: string): boolean {
  return reply.status === cliStatus.cannot && replyText(reply).startsWith(words)
}
