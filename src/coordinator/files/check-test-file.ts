/** Validates a VCL test when it is saved: short tests inline, others in a thread, because YAML is parsed without yielding. */
import { FleetError } from '../../errors.js'
import { Semaphore } from '../../runtime/semaphore.js'
import { readTestFile } from '../../test-files/read-test-file.js'
import { testFileLimitBytes } from '../../test-files/test-file.js'
import { askThread } from './ask-thread.js'

/** `line 3: …`; empty: the test is valid. */
type TestFileProblems = readonly string[]

/** Takes some milliseconds, less than starting a thread. */
const shortCharacters = 4 * 1024
const maxWaiting = 16
/** 64 KiB of the worst input take 2 s. */
const checkTimeoutMs = 10_000

const semaphore = new Semaphore({
  maxWaiting,
  refuse: () =>
    new FleetError('unavailable', 'file', `${maxWaiting} tests are being checked already`, {
      retryAfterSeconds: checkTimeoutMs / 1000,
    }),
})

export function findTestProblems(text: string): TestFileProblems {
  const read = readTestFile(text)
  return read.ok ? [] : read.problems.map(({ line, message }) => `line ${line}: ${message}`)
}

/** Throws FleetError 'invalid' with every problem, its file and line. */
export async function requireTestFile(
  name: string,
  text: string | null,
  thread = new URL('./test-file-thread.js', import.meta.url),
): Promise<void> {
  if (text === null) throw new FleetError('invalid', 'file', `${name}: a test is a text file`)
  // A text that is too large is rejected without being parsed.
  const isShort = text.length <= shortCharacters || text.length > testFileLimitBytes
  const problems = isShort
    ? findTestProblems(text)
    : await semaphore.run(() => askThread<TestFileProblems>(thread, text, checkTimeoutMs))
  if (problems === null)
    throw new FleetError('invalid', 'file', `${name}: it takes too long to be read`)
  if (problems.length > 0)
    throw new FleetError('invalid', 'file', problems.map((one) => `${name} ${one}`).join('\n'))
}
