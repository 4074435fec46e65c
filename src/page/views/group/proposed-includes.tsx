/** Files that the chosen main VCL includes, directly or indirectly, and that the group does not have yet. */
import type { Signal } from '@preact/signals'
import { useAnswer } from '../../api/answer.js'
import { call } from '../../api/call.js'
import type { FleetFile, WholeVersion } from '../../../resources/file.js'
import { Button } from '../../parts/button.js'
import { formatNames } from '../../parts/format-names.js'
import { gatherIncludes } from '../file/check.js'

interface ProposedIncludesProps {
  readonly main: FleetFile
  /** Empty: the newest version. */
  readonly version: string
  readonly includes: Signal<readonly number[]>
}

const none: readonly FleetFile[] = []

export function ProposedIncludes({ main, version, includes }: ProposedIncludesProps) {
  const path = `/files/${main.id}/versions/${version === '' ? main.version : version}`
  const found = useAnswer(path, none, async (signal) => {
    const read = await call<WholeVersion>('GET', path, { signal })
    return read.ok && !read.value.encoded ? gatherIncludes(main, read.value.source, signal) : none
  })
  const missing = found.filter(({ id }) => id !== main.id && !includes.value.includes(id))
  if (missing.length === 0) return null
  return (
    <div class="row group-proposed" role="status">
      <span>
        {main.name} includes {formatNames(missing.map(({ name }) => name))}.
      </span>
      <Button
        onClick={() => {
          includes.value = [...includes.value, ...missing.map(({ id }) => id)]
        }}
      >
        {missing.length === 1 ? 'Add it' : 'Add them'}
      </Button>
    </div>
  )
}
