/** What a text includes, as it stands in the editor: each leads to its file. */
import { useMemo } from 'preact/hooks'
import { Link } from 'wouter-preact'
import type { FleetFile } from '../../../resources/file.js'
import { useAnswer } from '../../api/answer.js'
import { findByNames } from './check.js'
import { readIncludes } from './read-includes.js'

/** A pause in typing. */
const delayMs = 400

export function Includes({ file, text }: { readonly file: FleetFile; readonly text: string }) {
  const names = useMemo(() => readIncludes(text), [text])
  const read = async (): Promise<Found> => {
    const files = await findByNames(file, names)
    return new Map(files.map((one) => [one.name, one]))
  }
  const found = useAnswer<Found>(JSON.stringify([file.id, names]), null, read, { delayMs })

  return (
    <section class="panel" aria-labelledby="file-includes">
      <h2 id="file-includes">Includes</h2>
      {names.length === 0 && <p class="quiet">None.</p>}
      {names.length > 0 && (
        <ul class="plain-list">
          {names.map((name) => (
            <li key={name}>
              <Included name={name} file={found?.get(name)} isKnown={found !== null} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

/** By name; null: not read yet. */
type Found = ReadonlyMap<string, FleetFile> | null

function Included(props: {
  readonly name: string
  readonly file: FleetFile | undefined
  readonly isKnown: boolean
}) {
  const { name, file, isKnown } = props
  if (file) return <Link href={`/files/${file.id}`}>{name}</Link>
  return (
    <>
      {name}
      {isKnown && <span class="quiet"> (no such file here; a cache may have it)</span>}
    </>
  )
}
