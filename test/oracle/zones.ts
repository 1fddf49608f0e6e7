// Zones and years with changes of the clocks that are unlike the others.

export const allZones = (): readonly string[] => [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])]

/** Old names of other zones, and zones of fixed offsets: `Intl` knows them and lists none of them. */
const LINKS = [
  'US/Pacific',
  'US/Eastern',
  'EST5EDT',
  'PST8PDT',
  'CET',
  'WET',
  'GB',
  'NZ',
  'Cuba',
  'Australia/LHI',
  'Asia/Calcutta',
  'Etc/GMT+5',
]

/** For the run of all: a sample draws from zones that are unlike one another. */
export const allZonesWithLinks = (): readonly string[] => [...new Set([...allZones(), ...LINKS])]

export type ZoneYear = { readonly zone: string; readonly year: number }

const ODD: Readonly<Record<string, readonly number[]>> = {
  // Half an hour of summer time, and once a whole one.
  'Australia/Lord_Howe': [1981, 1985, 2025],
  // Dates that were skipped whole, and one that came twice.
  'Pacific/Apia': [2011, 2012],
  'Pacific/Fakaofo': [2011],
  'Pacific/Kwajalein': [1969, 1993],
  'Pacific/Kiritimati': [1994, 1995],
  'Asia/Manila': [1942, 1978],
  // Two hours at once; the other way about; quarters of an hour.
  'Antarctica/Troll': [2005, 2016, 2025],
  'Antarctica/Casey': [2009, 2010, 2018, 2023],
  'Europe/Dublin': [1916, 1971, 2024],
  'Africa/Casablanca': [2012, 2019, 2024],
  'Africa/El_Aaiun': [2013, 2023],
  'Pacific/Chatham': [1974, 2024],
  'Asia/Kathmandu': [1985, 1986],
  'Asia/Pyongyang': [2015, 2018],
  'America/Caracas': [2007, 2016],
  // Offsets with seconds.
  'Africa/Monrovia': [1919, 1972],
  'Europe/Amsterdam': [1937, 1940],
  'Europe/Paris': [1911, 1940, 1944],
  'America/New_York': [1900, 1974, 2007],
  'Asia/Kolkata': [1905, 1942],
  'Africa/Freetown': [1939],
  'Europe/Moscow': [1917, 1919, 1921, 2011, 2014],
  'Europe/London': [1941, 1947, 1968],
  'Europe/Berlin': [1945, 1947],
  // At midnight, and at 24:00.
  'Africa/Cairo': [2010, 2014, 2024],
  'Asia/Beirut': [2023, 2024],
  'Asia/Amman': [2012, 2022],
  'Asia/Damascus': [2021, 2022],
  'Asia/Gaza': [2011, 2023, 2025],
  'Asia/Tehran': [1977, 2008, 2022],
  'America/Havana': [2012, 2024],
  'America/Santiago': [2016, 2024],
  'America/Asuncion': [2023, 2024],
  'America/Sao_Paulo': [2017, 2018],
  'America/St_Johns': [1988, 2008, 2011],
  'America/Godthab': [2023, 2024],
  'America/Scoresbysund': [2023, 2024],
  'America/Inuvik': [1965, 1979, 2024],
  'Atlantic/Azores': [1983, 1992, 2024],
  'Asia/Almaty': [2004, 2024],
  'Pacific/Easter': [2016, 2024],
  'Pacific/Norfolk': [2015, 2019],
  'Asia/Dhaka': [2009],
  'Pacific/Bougainville': [2014],
  'America/Argentina/San_Luis': [2008, 2009],
  'Asia/Hebron': [1996, 2011],
  'Africa/Tripoli': [1990, 2012, 2013],
  'Antarctica/Vostok': [1994, 2023],
}

export const oddZoneYears = (): readonly ZoneYear[] => Object.entries(ODD).flatMap(([zone, years]) => years.map((year) => ({ zone, year })))
