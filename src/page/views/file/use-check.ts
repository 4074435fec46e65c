/** Checks a text on a cache: on request, and after each pause in typing. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Group } from '../../../resources/vclgroup.js'
import type { WholeFile } from '../../../resources/file.js'
import { useAnswer } from '../../api/answer.js'
import { mayRead, mayWrite } from '../../session/rights.js'
import { checkText, type Checked } from './check.js'
import type { EditedFile } from './edited-file.js'
import { readProblems, type Problem } from './read-problems.js'

export interface Check {
  /** The result for the text at the time of the check; null: nothing was checked yet. */
  readonly result: Checked | null
  /** True if the result is for the text now in the editor. */
  readonly isCurrent: boolean
  readonly isBusy: boolean
  /** True if the user requested the check; false if typing started it. */
  readonly isAsked: boolean
  readonly run: () => void
}

/** A pause in typing; each check starts a compiler. */
const delayMs = 1_000

interface Answer {
  readonly key: string
  readonly result: Checked | null
  readonly isAsked: boolean
}

const nothing: Answer = { key: '', result: null, isAsked: false }

/** Users without this permission get no button and no automatic checks. */
export function mayCheck({ fileType }: Pick<WholeFile, 'fileType'>): boolean {
  return mayWrite('file') && mayRead('agent') && (fileType === 1 || fileType === 2)
}

/** `group`: the group as part of which the file is checked; null: alone. */
export function useCheck(edited: EditedFile, file: WholeFile, group: Group | null): Check {
  const asked = useSignal(0)
  const answered = useRef(0)
  const isRunning = useSignal(false)
  const text = edited.state.value?.doc.toString() ?? ''
  const isWanted = mayCheck(file) && (edited.isChanged.value || asked.value > 0)
  const key = isWanted ? JSON.stringify([group?.id, asked.value, text]) : null
  const isAsked = asked.value > answered.current
  const ask = async (signal: AbortSignal): Promise<Answer> => {
    answered.current = asked.peek()
    isRunning.value = true
    const result = await checkText(file, text, group, signal)
    if (!signal.aborted) isRunning.value = false
    return { key: key ?? '', result, isAsked }
  }
  const answer = useAnswer(key, nothing, ask, isAsked ? {} : { delayMs })
  useEffect(() => {
    edited.broken.value = findBroken(answer, text)
  }, [answer])
  return {
    ...answer,
    isCurrent: answer.key === key,
    isBusy: key !== null && isRunning.value && answer.key !== key,
    run: () => {
      asked.value++
    },
  }
}

export function problemsOf({ outcome, files }: Checked): readonly Problem[] {
  return outcome.ok ? [] : readProblems(outcome.error.errorMsg, new Set(files.keys()))
}

/** Only compiler errors count: an unreachable cache proves nothing about the text. */
function findBroken({ result }: Answer, text: string): EditedFile['broken']['value'] {
  if (!result || result.outcome.ok || result.outcome.error.status !== 422) return null
  const [first] = problemsOf(result)
  const why = first ? `${first.file} line ${first.line}: ${first.message}.` : 'It was refused.'
  return { text, why }
}
