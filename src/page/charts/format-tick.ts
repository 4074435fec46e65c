/** Formats times below a chart and at the pointer: as short as the distance allows, in the browser's time zone. */

const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })
const minute = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const second = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })
const dayAndMinute = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
})
const daySeconds = 86_400

/** `stepSeconds`: distance between two ticks. */
export function formatTick(seconds: number, stepSeconds: number): string {
  const moment = new Date(seconds * 1000)
  const isMidnight = moment.getHours() === 0 && moment.getMinutes() === 0
  if (stepSeconds >= daySeconds || (isMidnight && stepSeconds >= 3_600)) return day.format(moment)
  return (stepSeconds >= 60 ? minute : second).format(moment)
}

/** `rangeSeconds`: of the chart; within a day the time alone is enough. */
export function formatMoment(seconds: number, rangeSeconds: number): string {
  return (rangeSeconds > daySeconds ? dayAndMinute : second).format(seconds * 1000)
}
