/** A small table for the tests of tables: the names of its columns, and its rows. */
export const NAMES = ["River", "Deep", "Wide", "Fish"]
export const RIVERS = [
  ["Aa", "12", "31", "few"],
  ["Bode", "169", "44", "some"],
  ["Elbe", "1094", "97", "many"],
  ["Oder", "840", "55", "many"]
]
