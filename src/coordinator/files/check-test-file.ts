/** Whether a test of VCL is right, asked when it is written: short ones at once, others in a thread, since YAML is read in one go. */
import { FleetError } from '../../errors.js'
import { Semaphore } from '../../runtime/semaphore.js'
import { readTestFile } from '../../test-files/read-test-file.js'
import { testFileLimitBytes } from '../../test-files/test-file.js'
import { askThread } from './ask-thread.js'

/** `line 3: …`; none: it is right. */
type TestFileProblems = readonly string[]

/** Some milliseconds, which is less than a thread takes to start. */
const shortCharacters = 4 * 1024
const waitingMost = 16
/** 64 KiB of what is worst to read take 2 s. */
const checkTimeoutMs = 10_000

const semaphore = new Semaphore({
  waitingMost,
  refuse: () =>
    new FleetError('unavailable', 'file', `${waitingMost} tests are being checked already`, {
      retryAfterSeconds: checkTimeoutMs / 1000,
    }),
})

export function findTestProblems(text: string): TestFileProblems {
  const read = readTestFile(text)
  return read.ok ? [] : read.problems.map(({ line, message }) => `line ${line}: ${message}`)
}

/** Throws FleetError 'invalid' with each problem, its file and line. */
export async function requireTestFile(
  name: string,
  text: string | null,
  thread = new URL('./test-file-thread.js', import.meta.url),
): Promise<void> {
  if (text === null) throw new FleetError('invalid', 'file', `${name}: a test is a text file`)
  // What is too large is told without being read.
  const isShort = text.length <= shortCharacters || text.length > testFileLimitBytes
  const problems = isShort
    ? findTestProblems(text)
    : await semaphore.run(() => askThread<TestFileProblems>(thread, text, checkTimeoutMs))
  if (problems === null)
    throw new FleetError('invalid', 'file', `${name}: it takes too long to be read`)
  if (problems.length > 0)
    throw new FleetError('invalid', 'file', problems.map((one) => `${name} ${one}`).join('\n'))
}
