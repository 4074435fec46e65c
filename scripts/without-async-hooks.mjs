/**
 * Loaded before a test: nobody is told of each promise that is made and collected. tap asks for it to find the test that an error
 * thrown out of turn belongs to; that costs a tenth of what tests compute. Without it such an error ends the file's process, which
 * has then failed.
 */
import asyncHooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

asyncHooks.createHook = () => {
  const hook = { enable: () => hook, disable: () => hook }
  return hook
}
syncBuiltinESMExports()
