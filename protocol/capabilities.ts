/**
 * What a cache can do, as it says itself: `help -j`, else `help`, else what is known of its release. The cache's word counts
 * before the version, since builds differ from releases; but no command is listed that a stopped child would answer.
 */

import type { Command } from './command.js'
import { help, type HelpEntry } from './commands/process.js'
import { ManagementPortError } from './errors.js'
import { hasCommand, isSince, supportsJson, type Since } from './release.js'
import { helpText } from './text/process.js'

export interface Capabilities {
  readonly hasCommand: (command: string) => boolean
  /** `-j` as its first word. */
  readonly answersJson: (command: string) => boolean
  /** `vcl.discard` takes several names, and patterns; else exactly one name. */
  readonly discardsSeveral: boolean
}

interface Runner {
  run<Result>(command: Command<Result>): Promise<Result>
}

/** Names and globs (mgt_vcl.c, mcf_vcl_discard). */
const discardsSeveralSince: Since = [null, '6.6']
/** Of the child: where it is listed, all commands are. */
const childCommand = 'ban.list'

/** By the release alone; null is taken for the newest. */
export function capabilitiesOf(version: string | null): Capabilities {
  return {
    hasCommand: (command) => hasCommand(version, command),
    answersJson: (command) => supportsJson(version, command),
    discardsSeveral: isSince(version, discardsSeveralSince),
  }
}

/** Rejects with what the connection does; a cache that does not tell is judged by its release. */
export async function probeCapabilities(
  runner: Runner,
  version: string | null,
): Promise<Capabilities> {
  const entries = (await tryHelp(runner, help())) ?? []
  if (entries.length > 0) return capabilitiesFrom(entries, version)
  // The syntaxes of 6.0 promise a `-j` that is not there: only which commands exist is read from text.
  const listed = (await tryHelp(runner, helpText())) ?? []
  const byText = listed.map((entry) => ({
    ...entry,
    hasJson: entry.hasJson && supportsJson(version, entry.name),
  }))
  return capabilitiesFrom(byText, version)
}

/** What is not listed is judged by the release, unless the list is whole. */
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

/** Null where it is refused (101, 102, 105), cut (201), or answered with what cannot be read. */
async function tryHelp(
  runner: Runner,
  command: Command<readonly HelpEntry[]>,
): Promise<readonly HelpEntry[] | null> {
  try {
    return await runner.run(command)
  } catch (error) {
    if (!(error instanceof ManagementPortError)) throw error
    // An answer that broke the connection is told by whatever is run next.
    if (error.kind === 'rejected' || error.kind === 'garbled') return null
    throw error
  }
}
