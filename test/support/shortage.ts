/** A state dir without free space: on its own small file system where mounting is allowed, else by a process limit. */
import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Daemon } from './daemon.js'

const run = promisify(execFile)

export interface Shortage {
  /** The error of the file system. */
  readonly says: RegExp
  /** For agents that start meanwhile. */
  readonly through: () => readonly string[]
  begin(agent: Daemon): Promise<void>
  end(agent: Daemon): Promise<void>
  /** Called once nothing runs there any more. */
  cleanUp(): Promise<void>
}

/** The folder must exist and be empty. */
export async function prepareShortage(folder: string, sizeMb = 1): Promise<Shortage> {
  const mounting = run('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m`, 'none', folder])
  return mounting.then(
    () => byFileSystem(folder),
    () => byLimit(),
  )
}

function byFileSystem(folder: string): Shortage {
  const filler = join(folder, 'filler')
  return {
    says: /no space left in /,
    through: () => [],
    begin: () => fill(filler),
    end: () => rm(filler),
    cleanUp: async () => {
      await run('umount', [folder])
    },
  }
}

/** Only root may mount. This limit forbids the process to write a byte to any file: users may set it for their own processes. */
function byLimit(): Shortage {
  const none = '--fsize=0:unlimited'
  let isShort = false
  return {
    says: /EFBIG/,
    through: () => (isShort ? ['prlimit', none, '--'] : []),
    begin: async ({ pid }) => {
      isShort = true
      await run('prlimit', ['--pid', String(pid), none])
    },
    end: async ({ pid }) => {
      isShort = false
      await run('prlimit', ['--pid', String(pid), '--fsize=unlimited'])
    },
    cleanUp: () => Promise.resolve(),
  }
}

/** To the last byte. */
async function fill(path: string): Promise<void> {
  for (const size of [65_536, 4_096, 512, 1])
    for (;;) {
      const isRoom = await writeFile(path, Buffer.alloc(size), { flag: 'a' }).then(
        () => true,
        () => false,
      )
      if (!isRoom) break
    }
}
