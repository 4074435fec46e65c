/** Describes failed tests for the user who deploys: file, line, step and the cache's log. Pure. */
import { listFailures, type TestResult } from '../../resources/vcl-test-result.js'
import { translateError } from '../../vcl/compiler-text.js'
import type { SourceMap } from '../../vcl/source-map.js'

interface Rest {
  readonly notRun: number
  /** The time limit for all tests together, if it was exceeded; otherwise null. */
  readonly lateSeconds: number | null
}

const filesShown = 10
/** For the whole text; one log alone has up to 200 lines. */
const limitCharacters = 32_000

export function describeFailedTests(
  failed: readonly TestResult[],
  sourceMap: SourceMap,
  { notRun, lateSeconds }: Rest,
): string {
  const hidden = failed.length - filesShown
  const text = [
    ...failed.slice(0, filesShown).map((result) => describe(result, sourceMap)),
    ...(hidden > 0 ? [`(and ${hidden} more files failed)`] : []),
    ...(lateSeconds === null
      ? []
      : [`the tests of a group took longer than their common limit of ${lateSeconds} s`]),
    ...(notRun > 0 ? [`(${notRun} more ${notRun === 1 ? 'file was' : 'files were'} not run)`] : []),
  ].join('\n')
  return text.length > limitCharacters ? `${text.slice(0, limitCharacters)}…` : text
}

/** `trouble` may be the compiler's error text. */
function describe(result: TestResult, sourceMap: SourceMap): string {
  const { file, trouble } = result
  const message = trouble === null ? null : `${file}: ${translateError(trouble, sourceMap)}`
  return listFailures({ ...result, trouble: message }).join('\n')
}
