/** Parses the command line of `cachefleetd backup` and `restore`. Pure. */
import { ConfigError } from '../../config/load.js'

interface BackupWords {
  readonly file: string
  /** Null: the passphrase is read from standard input. */
  readonly passphraseFile: string | null
  /** Settings of the daemon. */
  readonly settings: readonly string[]
}

const flag = '--passphrase-file'

/** Throws ConfigError. */
export function readBackupWords(words: readonly string[], usage: string): BackupWords {
  const [file = '', ...rest] = words
  if (file === '' || file.startsWith('-')) throw new ConfigError(usage)
  const at = rest.findIndex((word) => word === flag || word.startsWith(`${flag}=`))
  if (at < 0) return { file, passphraseFile: null, settings: rest }
  const isJoined = rest[at] !== flag
  const passphraseFile = isJoined ? rest[at]?.slice(flag.length + 1) : rest[at + 1]
  if (passphraseFile === undefined || passphraseFile === '') throw new ConfigError(usage)
  return { file, passphraseFile, settings: rest.toSpliced(at, isJoined ? 1 : 2) }
}
