/**
 * Parameters that are sets of bits: `+http2,-esi_remove_bom` changes individual bits. The meaning of the words `none`, `all` and `default`,
 * and the printed form, differ by release (mgt_param_bits.c up to 7.1, mgt_param_tweak.c).
 */
import type { EngineRelease } from './release.js'

/** Names of bits in the order of 7.1.1's output. */
const bitNames: Readonly<Record<string, readonly string[]>> = {
  debug:
    'req_state workspace waitinglist syncvsl hashedge vclrel lurker esi_chop flush_head vtc_mode witness vsm_keep slow_acceptor h2_nocheck vmod_so_keep processors protocol vcl_keep lck'.split(
      ' ',
    ),
  feature:
    'http2 short_panic no_coredump https_scheme http_date_postel esi_ignore_https esi_disable_xml_check esi_ignore_other_elements esi_remove_bom esi_include_onerror wait_silo validate_headers busy_stats_rate'.split(
      ' ',
    ),
  experimental: ['drop_pools'],
  vsl_mask:
    'Debug Error CLI SessOpen SessClose BackendOpen BackendReuse BackendClose HttpGarbage Proxy ProxyGarbage Backend Length FetchError ReqMethod ReqURL ReqProtocol ReqStatus ReqReason ReqHeader ReqUnset ReqLost RespMethod RespURL RespProtocol RespStatus RespReason RespHeader RespUnset RespLost BereqMethod BereqURL BereqProtocol BereqStatus BereqReason BereqHeader BereqUnset BereqLost BerespMethod BerespURL BerespProtocol BerespStatus BerespReason BerespHeader BerespUnset BerespLost ObjMethod ObjURL ObjProtocol ObjStatus ObjReason ObjHeader ObjUnset ObjLost BogoHeader LostHeader TTL Fetch_Body VCL_acl VCL_call VCL_trace VCL_return ReqStart Hit HitPass ExpBan ExpKill WorkThread ESI_xmlerror Hash Backend_health VCL_Log VCL_Error Gzip Link Begin End VSL Storage Timestamp ReqAcct PipeAcct BereqAcct VfpAcct Witness BackendStart H2RxHdr H2RxBody H2TxHdr H2TxBody HitMiss Filters SessError VCL_use Notice VdpAcct'.split(
      ' ',
    ),
}

/** Log records excluded by vsl_mask initially. */
export const initialMask =
  '-Debug,-ObjProtocol,-ObjStatus,-ObjReason,-ObjHeader,-VCL_trace,-ExpKill,-WorkThread,-Hash,-VfpAcct,-H2RxHdr,-H2RxBody,-H2TxHdr,-H2TxBody,-VdpAcct'

export interface BitParam {
  readonly name: string
  /** The value in printed form. */
  readonly setting: string
  /** The text after `Default is:`. */
  readonly defaultText: string
}

/** A mask lists the excluded bits (`-Hash`), other parameters the set bits (`+http2`). */
const signOf = (name: string) => (name === 'vsl_mask' ? '-' : '+')

/** Parses a caller's input: returns the new value in printed form, or why it is refused. */
export function parseBits(
  release: EngineRelease,
  param: BitParam,
  input: string,
): { readonly text: string } | { readonly refusal: string } {
  const { name, defaultText } = param
  const names = namesOf(release, name)
  const set = readBits(release, name, param.setting)
  const changes = release.bits === 'plain' ? startPlain(release, param, { input, set }) : input
  const text = changes === 'default' ? defaultText : changes
  for (const change of text.split(/[,\s]+/).filter((word) => word !== '')) {
    if (changeAll(release, name, { word: change, set })) continue
    const bit = findBit(names, change)
    if (bit === undefined) return { refusal: refuseBit(name, change) }
    if (change.startsWith(signOf(name))) set.add(bit)
    else set.delete(bit)
  }
  return { text: printBits(release, name, set) }
}

/** Prints bits in the engine's order. */
export function printBits(release: EngineRelease, name: string, set: ReadonlySet<string>): string {
  const sign = signOf(name)
  const [empty, full] = sign === '+' ? ['none', 'all'] : ['all', 'none']
  const known = namesOf(release, name)
  const printed = known.filter((bit) => set.has(bit)).map((bit) => `${sign}${bit}`)
  if (release.bits === 'plain')
    return printed.join(',') || (sign === '+' ? 'none' : '(all enabled)')
  if (release.bits === 'words' && printed.length === known.length) return full
  return [empty, ...printed].join(',')
}

function readBits(release: EngineRelease, name: string, text: string): Set<string> {
  if (release.bits === 'words' && text === (signOf(name) === '+' ? 'all' : 'none'))
    return new Set(namesOf(release, name))
  const bits = text.split(',').filter((word) => /^[+-]/.test(word))
  return new Set(bits.map((bit) => bit.slice(1)))
}

interface Change {
  readonly word: string
  readonly set: Set<string>
}

/** From 7.5 on `none` and `all` are ordinary words; from 7.7 on there is a word for "all bits set". */
function changeAll(release: EngineRelease, name: string, { word, set }: Change): boolean {
  const { bits } = release
  const [empty, full] = signOf(name) === '+' ? ['none', 'all'] : ['all', 'none']
  if (bits === 'plain' || (word !== empty && word !== full)) return false
  if (word === full && bits !== 'words') return false
  set.clear()
  if (word === full) for (const bit of namesOf(release, name)) set.add(bit)
  return true
}

/** Up to 7.4: replaces a lone `default` or `none` by the changes it stands for, after clearing; returns other input unchanged. */
function startPlain(
  release: EngineRelease,
  { name, defaultText }: BitParam,
  { input, set }: { readonly input: string; readonly set: Set<string> },
): string {
  const isNone = input === 'none' && name !== 'vsl_mask'
  // Up to 7.0 `default` is also the text after `Default is:`, and means the initial bits.
  const isDefault = input === 'default' && (defaultText !== 'none' || name === 'feature')
  if (!isNone && !isDefault) return input
  const onlyAdds = isDefault && name === 'feature' && !release.has([null, '6.6'])
  if (!onlyAdds) clearBits(release, namesOf(release, name), set)
  if (isNone) return ''
  const isWord = defaultText === 'default'
  if (name === 'feature') return release.feature.bits.map((bit) => `+${bit}`).join(',')
  return isWord ? initialMask : defaultText
}

/** 7.1 to 7.4 clear whole bytes only: bits after the last multiple of eight remain set (tested on 7.1.1). */
function clearBits({ has }: EngineRelease, names: readonly string[], set: Set<string>): void {
  if (has([null, '7.1']))
    for (const name of names.slice(0, names.length - (names.length % 8))) set.delete(name)
  else set.clear()
}

function namesOf({ feature }: EngineRelease, name: string): readonly string[] {
  const names = bitNames[name] ?? []
  const late = name === 'feature' ? feature.bits.filter((bit) => !names.includes(bit)) : []
  return [...names, ...late]
}

function findBit(names: readonly string[], change: string): string | undefined {
  const wanted = change.slice(1).toLowerCase()
  return /^[+-]/.test(change) ? names.find((name) => name.toLowerCase() === wanted) : undefined
}

function refuseBit(name: string, change: string): string {
  if (!/^[+-]/.test(change)) return `Missing '+' or '-' (${change})\n`
  return `Unknown ${name === 'vsl_mask' ? 'VSL tag' : `${name} bit`} (${change})\n`
}
