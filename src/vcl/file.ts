/** Derives bytes, digest and type from a file's content (docs/behaviour.md, Files). */
import { createHash } from 'node:crypto'
import { fileTypes, type FleetFile } from '../resources/file.js'
import { vclDeclaresVersion } from './bundle.js'

type FileType = FleetFile['fileType']

/** As sent by the caller: text, or base64 if encoded (RFC 4648, padded, on one line). */
interface FileSource {
  readonly source: string
  readonly encoded: boolean
}

export interface FileContent {
  readonly bytes: Uint8Array
  /** SHA-256 (hex) over the bytes. */
  readonly sha: string
  /** Null if the bytes are not UTF-8 text or contain a NUL. */
  readonly text: string | null
}

type ReadContent =
  | { readonly ok: true; readonly content: FileContent }
  | {
      readonly ok: false
      /** What is wrong with `source`, and what would be right. */
      readonly problem: string
    }

export function readFileContent({ source, encoded }: FileSource): ReadContent {
  const bytes = encoded ? decodeBase64(source) : encodeText(source)
  if (typeof bytes === 'string') return { ok: false, problem: bytes }
  const sha = createHash('sha256').update(bytes).digest('hex')
  return { ok: true, content: { bytes, sha, text: decodeText(bytes) } }
}

export function isFileType(value: unknown): value is FileType {
  return Object.values<unknown>(fileTypes).includes(value)
}

/** The default type of a file created by POST /files; POST /vcls always creates main files. */
export function defaultFileType(content: FileContent): FileType {
  if (content.text === null) return fileTypes.other
  return vclDeclaresVersion(content.text) ? fileTypes.main : fileTypes.include
}

export function defaultContentType(encoded: boolean): string {
  return encoded ? 'application/octet-stream' : 'text/plain; charset=utf-8'
}

/** Buffer.from accepts invalid characters, padding and trailing bits, so the result is encoded again and compared. */
function decodeBase64(source: string): Buffer | string {
  const bytes = Buffer.from(source, 'base64')
  return bytes.toString('base64') === source
    ? bytes
    : 'an encoded source is base64 with padding, without blanks or line breaks'
}

function encodeText(source: string): Buffer | string {
  return /\p{Surrogate}/u.test(source)
    ? 'a source has no halves of surrogate pairs: they cannot be written in UTF-8'
    : Buffer.from(source, 'utf8')
}

/** Keeps a byte order mark, so that the text corresponds exactly to the bytes. */
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decodeText(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null
  try {
    return strictUtf8.decode(bytes)
  } catch {
    return null // the decoder only throws if the bytes are not UTF-8
  }
}
