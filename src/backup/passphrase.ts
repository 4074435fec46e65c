/** Reads the passphrase of a backup from a file or standard input, never from an argument. */
import { readFile } from 'node:fs/promises'
import { stdin } from 'node:process'
import { readSecretLine } from '../secret-line.js'
import { BackupError } from './backup-file.js'

/** Same as for passwords: an attacker with the file can guess without limit. */
const leastCharacters = 12

/** `isNew`: the passphrase cannot be verified yet, so an interactive user enters it twice. Throws BackupError. */
export async function readPassphrase(file: string | null, isNew: boolean): Promise<string> {
  const passphrase =
    file === null ? await askForPassphrase(isNew) : ((await readText(file)).split('\n')[0] ?? '')
  const trimmed = passphrase.replace(/\r$/, '')
  if (!isNew || trimmed.length >= leastCharacters) return trimmed
  throw new BackupError(
    `the passphrase has fewer than ${leastCharacters} characters: with it everything in the backup can be read`,
  )
}

async function askForPassphrase(isNew: boolean): Promise<string> {
  const first = await readSecretLine('Passphrase: ')
  const again = isNew && stdin.isTTY ? await readSecretLine('Once more: ') : first
  stdin.pause()
  if (first === null)
    throw new BackupError('there is no passphrase: standard input or --passphrase-file gives it')
  if (first !== again) throw new BackupError('the two passphrases differ')
  return first
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new BackupError(`--passphrase-file: ${file} cannot be read: ${why}`, { cause })
  }
}
