/**
 * The certificate files: chain and key in one, which the cache's manager reads at each load and at each start of its child.
 * Simulated agents keep theirs in memory.
 */
import { mkdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { draftOf, readIfThere, writeDurably } from '../../runtime/durable-file.js'

export interface CertificateFiles {
  /** The path for the cache's load command. */
  pathOf(name: string): string
  /** Null if the file does not exist. */
  read(name: string): Promise<string | null>
  write(name: string, text: string): Promise<void>
  remove(name: string): Promise<void>
}

interface Folder {
  readonly path: string
  /** 0o640 if the cache's manager reads them as a member of their group, else 0o600. */
  readonly mode: 0o600 | 0o640
}

/**
 * Below the state dir only its owner can read them, and the manager of a cache that runs as root. `tlsDir` is a folder that the
 * manager's group may enter, and its mode is not changed; it belongs to this agent alone, as file names depend only on the content.
 */
export function chooseCertificateFiles({
  tlsDir,
  stateDir,
  certificateFiles,
}: {
  readonly tlsDir?: string | null
  readonly stateDir?: string
  /** The files of a simulated agent. */
  readonly certificateFiles?: CertificateFiles
}): CertificateFiles {
  if (certificateFiles) return certificateFiles
  if (stateDir === undefined) return certificateFilesInMemory(new Map())
  return typeof tlsDir === 'string'
    ? filesOnDisk({ path: tlsDir, mode: 0o640 })
    : filesOnDisk({ path: join(stateDir, 'tls'), mode: 0o600 })
}

function filesOnDisk({ path: folder, mode }: Folder): CertificateFiles {
  const pathOf = (name: string) => resolve(folder, `${name.replace(/^cf-/, '')}.pem`)
  return {
    pathOf,
    read: (name) => readIfThere(pathOf(name)),
    write: async (name, text) => {
      if (mode === 0o600) await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeDurably(pathOf(name), text, mode)
    },
    remove: async (name) => {
      await rm(pathOf(name), { force: true })
      // The draft of a write that was killed contains the key too.
      await rm(draftOf(pathOf(name)), { force: true })
    },
  }
}

/** `texts`: by path, as the simulated cache reads them. */
export function certificateFilesInMemory(texts: Map<string, string>): CertificateFiles {
  const pathOf = (name: string) => `/simulated/tls/${name}.pem`
  return {
    pathOf,
    read: (name) => Promise.resolve(texts.get(pathOf(name)) ?? null),
    write: (name, text) => {
      texts.set(pathOf(name), text)
      return Promise.resolve()
    },
    remove: (name) => {
      texts.delete(pathOf(name))
      return Promise.resolve()
    },
  }
}
