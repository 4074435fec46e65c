/** The live log: requests to many caches as they complete, newest first. */
import { useSignal } from '@preact/signals'
import { ErrorNote } from '../../parts/error-note.js'
import { isAbout } from '../../parts/is-about.js'
import { Table } from '../../parts/table.js'
import { useDialog } from '../../parts/use-dialog.js'
import { useAddressField } from '../../shell/address.js'
import { fits, selectTraffic } from './compose-query.js'
import { LogHead, useLogFilter } from './log-head.js'
import { LogState } from './log-state.js'
import { RequestDialog } from './request-dialog.js'
import { requestColumns } from './request-columns.js'
import { useLog, type LogLine } from './use-log.js'

export function View() {
  const filter = useLogFilter()
  const isPaused = useSignal(false)
  const [detail, setDetail] = useAddressField('detail', { isStep: true })
  const isDetailed = detail === 'true'
  const attempt = useSignal(0)
  const opened = useDialog<LogLine>()
  const log = useLog({
    words: selectTraffic(filter).toString(),
    isShown: (request) => fits(request, filter),
    key: `${JSON.stringify(filter)} ${detail} ${attempt.value}`,
    isPaused: isPaused.value,
    isDetailed,
  })
  const { phase, lines } = log
  const error = 'error' in phase ? phase.error : null
  const readAgain = (): void => {
    attempt.value += 1
  }
  return (
    <>
      <LogHead filter={filter} error={error} />
      <LogState
        log={log}
        onPause={() => {
          isPaused.value = !isPaused.peek()
        }}
        isDetailed={isDetailed}
        onDetail={(isOn) => {
          setDetail(isOn ? 'true' : '')
        }}
      />
      {error && !isAbout(error, 'q') && (
        <ErrorNote
          error={error}
          {...(phase.kind === 'ended' ? { onRetry: readAgain, retryTitle: 'Read on' } : {})}
        />
      )}
      <Table
        label="Requests"
        rows={lines}
        columns={requestColumns}
        onOpen={opened.open}
        isDense
        fills
      />
      {opened.subject && <RequestDialog request={opened.subject} onClose={opened.close} />}
    </>
  )
}
