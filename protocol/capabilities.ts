/**
 * Determines the features of a cache: from `help -j`, else from `help`, else from its release. The cache's own list takes precedence over
 * the version, because builds differ from releases; but no list contains the child's commands while the child is stopped.
 */

import type { Command } from './command.js'
import { help, type HelpEntry } from './commands/process.js'
import { ManagementPortError } from './errors.js'
import { hasCommand, isSince, supportsJson, type Since } from './release.js'
import { helpText } from './text/process.js'

export interface Capabilities {
  readonly hasCommand: (command: string) => boolean
  /** True if the command accepts `-j` as its first word. */
  readonly answersJson: (command: string) => boolean
  /** `vcl.discard` accepts several names and patterns; otherwise exactly one name. */
  readonly discardsSeveral: boolean
}

interface Runner {
  run<Result>(command: Command<Result>): Promise<Result>
}

/** Accepts names and globs (mgt_vcl.c, mcf_vcl_discard). */
const discardsSeveralSince: Since = [null, '6.6']
/** A command of the child: if it is listed, the list is complete. */
const childCommand = 'ban.list'

/** Based on the release only; null counts as the newest. */
export function capabilitiesOf(version: string | null): Capabilities {
  return {
    hasCommand: (command) => hasCommand(version, command),
    answersJson: (command) => supportsJson(version, command),
    discardsSeveral: isSince(version, discardsSeveralSince),
  }
}

/** Rejects like the connection. If the cache does not list its commands, its release decides. */
export async function probeCapabilities(
  runner: Runner,
  version: string | null,
): Promise<Capabilities> {
  const entries = (await tryHelp(runner, help())) ?? []
  if (entries.length > 0) return capabilitiesFrom(entries, version)
  // `help` of 6.0 announces a `-j` that does not exist, so text is used only for the existence of commands.
  const listed = (await tryHelp(runner, helpText())) ?? []
  const byText = listed.map((entry) => ({
    ...entry,
    hasJson: entry.hasJson && supportsJson(version, entry.name),
  }))
  return capabilitiesFrom(byText, version)
}

/** Commands that are not listed are judged by the release, unless the list is complete. */
export function capabilitiesFrom(
  entries: readonly HelpEntry[],
  version: string | null,
): Capabilities {
  const byRelease = capabilitiesOf(version)
  const byName = new Map(entries.map((entry) => [entry.name, entry]))
  const isWhole = byName.has(childCommand)
  const discard = byName.get('vcl.discard')
  return {
    hasCommand: (command) => byName.has(command) || (!isWhole && byRelease.hasCommand(command)),
    answersJson: (command) =>
      byName.get(command)?.hasJson ?? (!isWhole && byRelease.answersJson(command)),
    discardsSeveral:
      discard === undefined ? byRelease.discardsSeveral : discard.syntax.includes('...'),
  }
}

/** Returns null if the command is refused (101, 102, 105), truncated (201), or the response is unreadable. */
async function tryHelp(
  runner: Runner,
  command: Command<readonly HelpEntry[]>,
): Promise<readonly HelpEntry[] | null> {
  try {
    return await runner.run(command)
  } catch (error) {
    if (!(error instanceof ManagementPortError)) throw error
    // If the response broke the connection, the next command reports it.
    if (error.kind === 'rejected' || error.kind === 'garbled') return null
    throw error
  }
}
