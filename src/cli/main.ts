/** The command-line client `cachefleet` (docs/behaviour.md, Command line): connects it to arguments, variables, streams, signals. */
import { exitCodes } from './cli-error.js'
import { runProgram } from './program.js'

const { stdin, stdout, stderr } = process

let interruptMessage = ''
// Nothing is undone: a requested deploy continues.
process.on('SIGINT', () => {
  // Clears the status line and the terminal's own ^C.
  if (stderr.isTTY) stderr.write('\r\x1b[K')
  if (interruptMessage !== '') stderr.write(`cachefleet: ${interruptMessage}\n`)
  process.exit(exitCodes.interrupted)
})
for (const stream of [stdout, stderr])
  stream.on('error', (error: Error & { readonly code?: string }) => {
    // The reader of the pipe has closed it, as `head` does.
    if (error.code === 'EPIPE') process.exit(exitCodes.done)
    if (stream === stdout)
      stderr.write(`cachefleet: The output cannot be written: ${error.message}\n`)
    process.exit(exitCodes.refused)
  })

/** Resolves when the program has finished. */
export const done = runProgram(process.argv.slice(2), {
  environment: process.env,
  stdin,
  stdout,
  stderr,
  now: Date.now,
  setInterruptMessage: (line) => {
    interruptMessage = line
  },
}).then((exitCode) => {
  process.exitCode = exitCode
})
