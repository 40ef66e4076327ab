import { nearestWord, excerptOf, RuleError } from '../rule/rule-error.ts'
import { createZone, UTC, type Zone } from './zone.ts'

/**
 * Names in the IANA database that are links to other names. The runtime accepts them but does not list them. It also
 * accepts names that are not in the database, plain offsets and any capitalisation, so its acceptance does not prove
 * that a name is valid.
 */
const LINKS: Readonly<Record<string, string>> = {
  '': `
    CET CST6CDT Cuba EET EST EST5EDT Egypt Eire GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST
    Hongkong Iceland Iran Israel Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT
    Navajo PRC PST8PDT Poland Portugal ROC ROK Singapore Turkey UCT UTC Universal W-SU WET
    Zulu`,
  Africa: `Asmara Timbuktu`,
  America: `
    Argentina/Buenos_Aires Argentina/Catamarca Argentina/ComodRivadavia Argentina/Cordoba
    Argentina/Jujuy Argentina/Mendoza Atikokan Atka Ensenada Fort_Wayne Indiana/Indianapolis
    Kentucky/Louisville Knox_IN Montreal Nipigon Nuuk Pangnirtung Porto_Acre Rainy_River
    Rosario Santa_Isabel Shiprock Thunder_Bay Virgin Yellowknife`,
  Antarctica: `South_Pole`,
  Asia: `
    Ashkhabad Choibalsan Chongqing Chungking Dacca Harbin Ho_Chi_Minh Istanbul Kashgar
    Kathmandu Kolkata Macao Tel_Aviv Thimbu Ujung_Pandang Ulan_Bator Yangon`,
  Atlantic: `Faroe Jan_Mayen`,
  Australia: `ACT Canberra Currie LHI NSW North Queensland South Tasmania Victoria West Yancowinna`,
  Brazil: `Acre DeNoronha East West`,
  Canada: `Atlantic Central Eastern Mountain Newfoundland Pacific Saskatchewan Yukon`,
  Chile: `Continental EasterIsland`,
  Etc: `
    GMT GMT+0 GMT+1 GMT+10 GMT+11 GMT+12 GMT+2 GMT+3 GMT+4 GMT+5 GMT+6 GMT+7 GMT+8 GMT+9 GMT-0
    GMT-1 GMT-10 GMT-11 GMT-12 GMT-13 GMT-14 GMT-2 GMT-3 GMT-4 GMT-5 GMT-6 GMT-7 GMT-8 GMT-9
    GMT0 Greenwich UCT UTC Universal Zulu`,
  Europe: `Belfast Kyiv Nicosia Tiraspol Uzhgorod Zaporozhye`,
  Mexico: `BajaNorte BajaSur General`,
  Pacific: `Chuuk Johnston Kanton Pohnpei Samoa Yap`,
  US: `
    Alaska Aleutian Arizona Central East-Indiana Eastern Hawaii Indiana-Starke Michigan
    Mountain Pacific Samoa`,
}

const names: ReadonlySet<string> = new Set([
  ...Intl.supportedValuesOf('timeZone'),
  ...Object.entries(LINKS).flatMap(([region, places]) =>
    places
      .trim()
      .split(/\s+/)
      .map((place) => (region === '' ? place : `${region}/${place}`)),
  ),
])
const zones = new Map<string, Zone>()

/** The zone with this name, cached. */
export function zoneNamed(name: string): Zone {
  const known = zones.get(name)
  if (known) return known
  if (!names.has(name)) throw unknownZone(name)
  const zone = openZone(name)
  zones.set(name, zone)
  return zone
}

/** Whether it is exactly the name of a zone. */
export function isZoneName(name: string): boolean {
  return names.has(name)
}

/** All accepted names. */
export function zoneNames(): readonly string[] {
  return [...names].toSorted()
}

function openZone(name: string): Zone {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions()
    return timeZone === 'UTC' ? UTC : createZone(name)
  } catch {
    throw new RuleError('zone', `this server has no data for the zone ${excerptOf(name)}`)
  }
}

function unknownZone(name: string): RuleError {
  const near = suggestZone(name)
  const hint = near ? `Did you mean ${near}?` : 'Write an IANA name, such as Europe/Athens or UTC.'
  return new RuleError('zone', `${excerptOf(name)} is not the name of a zone`, hint)
}

/** Suggests a zone with the same letters, the same city in another region, or a similar name. */
function suggestZone(name: string): string | undefined {
  if (name.length > 40) return undefined
  const wanted = name.toLowerCase().replaceAll(' ', '_')
  const lowered = zoneNames().map((zone) => [zone, zone.toLowerCase()] as const)
  const same = lowered.find(([, zone]) => zone === wanted)
  const place = lowered.find(([, zone]) => zone.endsWith(`/${wanted}`))
  return same?.[0] ?? place?.[0] ?? nearestWord(wanted, zoneNames())
}
