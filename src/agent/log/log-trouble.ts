/** Whether the log of the cache can be read here, and why not. */
import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { errorText } from '../engine/engine.js'
import type { LogTool } from './log-child.js'

const toolTimeoutMs = 5_000

export interface LogTrouble {
  readonly why: string
  /** True when the cache is running here, but the tool or the permission to read its memory is missing. */
  readonly isLacking: boolean
  /** True when the cache has no memory yet: its child, which creates it, has not started. Normal at every start. */
  readonly isStarting: boolean
}

/** Returns null when the log can be read. */
export async function findLogTrouble(
  findTool: () => Promise<Omit<LogTool, 'variables'>>,
): Promise<LogTrouble | null> {
  try {
    const { program, folder } = await findTool()
    await access(join(folder, '_.vsm_child'), constants.R_OK | constants.X_OK)
    await promisify(execFile)(program, ['-V'], { timeout: toolTimeoutMs })
    return null
  } catch (error) {
    const { code, syscall = '' } = error as NodeJS.ErrnoException // others have neither
    const isLacking = code === 'EACCES' || syscall.startsWith('spawn')
    const isStarting = code === 'ENOENT' && syscall === 'access'
    return { why: errorText(error).trim(), isLacking, isStarting }
  }
}
