/** Dates, times of day, moments and durations as text, spelled from the whole numbers that are stored, as the Python package does. */

import { counted, printable, quotedByPython } from "./text";

const DAY = 86400n;
const NANOSECONDS = 1_000_000_000n;
/** The first and the last second of the years 1 to 9999, which Python's dates have. */
const FIRST_SECOND = -62_135_596_800n;
const LAST_SECOND = 253_402_300_799n;

/** How many of a unit a second has, by the names of Parquet. */
export const UNITS: Record<string, bigint> = { SECONDS: 1n, MILLIS: 1000n, MICROS: 1_000_000n, NANOS: NANOSECONDS };

const two = (number: bigint | number): string => String(number).padStart(2, "0");

/** The quotient rounded down, and the rest. */
function divided(number: bigint, by: bigint): [bigint, bigint] {
  const rest = ((number % by) + by) % by;
  return [(number - rest) / by, rest];
}

/** Parts of a second: microseconds as isoformat() writes them, nanoseconds where there are any. */
function fraction(parts: bigint, unit: bigint): string {
  const nanoseconds = parts * (NANOSECONDS / unit);
  if (!nanoseconds) return "";
  const digits = String(nanoseconds).padStart(9, "0");
  return `.${nanoseconds % 1000n ? digits : digits.slice(0, 6)}`;
}

/** A moment that Python's dates do not have. */
export class OutsideYears extends Error {
  constructor(readonly seconds: bigint) {
    super();
  }

  /** Why a column with such a moment is refused. */
  refusal(name: string): string {
    const days = divided(this.seconds, DAY)[0];
    return (
      `column ${quotedByPython(printable(name, 60))} holds a date ${counted(days < 0n ? -days : days)} days ${days < 0n ? "before" : "after"} 1970-01-01, outside of the ` +
      "years 1 to 9999: mend it, or leave the field empty"
    );
  }
}

/** Date and time, of a moment that is `shift` seconds ahead of UTC. */
function plain(seconds: bigint, shift = 0n): string {
  for (const one of [seconds, seconds + shift]) if (one < FIRST_SECOND || one > LAST_SECOND) throw new OutsideYears(seconds);
  return new Date(Number(seconds + shift) * 1000).toISOString().slice(0, 19);
}

export function dateOf(days: bigint): string {
  return plain(days * DAY).slice(0, 10);
}

/** A time of day; Arrow takes a file for damaged that has another. */
export function timeOf(stored: bigint, unit: bigint): string {
  const [seconds, parts] = divided(stored, unit);
  if (seconds < 0n || seconds >= DAY) throw new Error(`the time of day ${stored} is not within a day`);
  return `${two(seconds / 3600n)}:${two((seconds / 60n) % 60n)}:${two(seconds % 60n)}${fraction(parts, unit)}`;
}

/** As str() of Python's timedelta writes it. */
export function durationOf(stored: bigint, unit: bigint): string {
  const [all, parts] = divided(stored, unit);
  const [days, seconds] = divided(all, DAY);
  const whole = days ? `${days} day${days === 1n || days === -1n ? "" : "s"}, ` : "";
  return `${whole}${seconds / 3600n}:${two((seconds / 60n) % 60n)}:${two(seconds % 60n)}${fraction(parts, unit)}`;
}

/** A moment as isoformat() writes it, in a zone where there is one. */
export function momentOf(stored: bigint, unit: bigint, zone: Zone | null): string {
  const [seconds, parts] = divided(stored, unit);
  const utc = plain(seconds);
  if (zone === null) return utc + fraction(parts, unit);
  const ahead = zone(Number(seconds));
  const size = Math.abs(ahead);
  const shown = [Math.floor(size / 3600), Math.floor(size / 60) % 60, ...(size % 60 ? [size % 60] : [])].map(two).join(":");
  return `${plain(seconds, BigInt(ahead))}${fraction(parts, unit)}${ahead < 0 ? "-" : "+"}${shown}`;
}

/** Seconds by which a zone is ahead of UTC at a moment. */
export type Zone = (seconds: number) => number;

/** A zone by its name, or why a column of its times is refused. */
export function zoneOf(zone: string, name: string): Zone | string {
  const fixed = /^([+-])([01]\d|2[0-3]):([0-5]\d)$/.exec(zone);
  if (fixed) {
    const ahead = (fixed[1] === "-" ? -1 : 1) * (Number(fixed[2]) * 3600 + Number(fixed[3]) * 60);
    return () => ahead;
  }
  try {
    // Names in another case, and offsets that are written otherwise, are zones to Intl alone.
    if (/^[+-]|^utc$/i.test(zone) && zone !== "UTC") throw new RangeError();
    const format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone, hourCycle: "h23", era: "short", year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric",
    });
    return (seconds) => {
      const parts = format.formatToParts(new Date(seconds * 1000));
      const part = (type: string): number => Number(parts.find((one) => one.type === type)?.value);
      const local = new Date(0);
      // Not by Date.UTC, to which the year 12 is 1912; the year before 1 is 1 again, of another era.
      const before = parts.some((one) => one.type === "era" && one.value.startsWith("B"));
      local.setUTCFullYear(before ? 1 - part("year") : part("year"), part("month") - 1, part("day"));
      local.setUTCHours(part("hour"), part("minute"), part("second"));
      return local.getTime() / 1000 - seconds;
    };
  } catch {
    return `column ${quotedByPython(printable(name, 60))} holds times of the zone ${quotedByPython(printable(zone, 60))}, which is not known here: write them in UTC`;
  }
}
