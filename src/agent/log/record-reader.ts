/** Converts whole records of the log tool to transactions, for the wanted groups. */
import { toTransaction } from '../../traffic/log-line.js'
import { findAnswered, keepParts, toLogLine, toShown } from '../../traffic/log-records.js'
import { RecordGroups, type RecordGroup } from '../../traffic/record-groups.js'
import type { LineReader, LineReaderOptions } from './transaction-reader.js'

export class RecordReader implements LineReader {
  readonly #records = new RecordGroups((group) => {
    this.#take(group)
  })
  readonly #options: LineReaderOptions
  readonly #ownNames: () => RegExp | null

  /** `ownNames`: names of the VCL whose records are sent; null: all. */
  constructor(options: LineReaderOptions, ownNames: () => RegExp | null) {
    this.#options = options
    this.#ownNames = ownNames
  }

  read(line: string): void {
    this.#records.read(line)
  }

  stop(): void {
    // What is not whole is not told.
  }

  #take(group: RecordGroup): void {
    const { masking, groupOf, isWanted, hasRoom, take, drop } = this.#options
    const answered = findAnswered(group)
    if (answered === null) return
    const line = toLogLine(answered, group.parts)
    const served = groupOf(line.host)
    if (!isWanted(served)) return
    const transaction = hasRoom() ? toTransaction(line, line.backend, masking) : null
    if (transaction === null) {
      drop()
      return
    }
    const names = this.#ownNames()
    const kept = names === null ? group.parts : keepParts(group.parts, names)
    const parts = kept.map((part) => toShown(part, masking))
    const records = { parts, recordsLeftOut: group.leftOut }
    take({ ...transaction, groupId: served?.groupId ?? null, ...records })
  }
}
