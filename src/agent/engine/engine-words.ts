/** The cache's message when it refuses, and whether its connection is at fault. */
import { ManagementPortError } from '../../../protocol/errors.js'
import type { ProgramFailure } from '../../messages/agent-to-coordinator.js'
import { errorText } from './engine.js'

/** The engine's complete message, if there is one. */
export function engineWords(error: unknown): string {
  const words = error instanceof ManagementPortError ? error.text : undefined
  return words === undefined || words.trim() === '' ? errorText(error) : words
}

export function isOfConnection(error: ManagementPortError): boolean {
  return error.kind === 'lost' || error.kind === 'timeout' || error.kind === 'garbled'
}

/** `words`: messages by program name. */
export function toFailures(words: ReadonlyMap<string, string>): readonly ProgramFailure[] {
  return [...words].map(([program, error]) => ({ program, error }))
}
