import { describe, expect, it } from "vitest";
import { chance, count, figure, percent, tick } from "../src/numbers";
import { printable } from "../src/text";

describe("numbers", () => {
  it("show a sign, four digits and limits", () => {
    expect(figure(0.15027)).toBe("+0.1503");
    expect(figure(-0.02)).toBe("−0.0200");
    expect(figure(-0.000001)).toBe("+0.0000");
    expect(figure(0.5, false)).toBe("0.5000");
    expect(figure("-inf")).toBe("−∞");
    expect(figure(null)).toBe("—");
  });
  it("show counts and chances", () => {
    expect(count(1234567)).toBe("1,234,567");
    expect(count(12.25)).toBe("12.3");
    expect(chance(7.8e-22)).toBe("7.8e−22");
    expect(chance(0.05)).toBe("0.050");
    expect(percent(0.95)).toBe("95%");
    expect(tick(-0.25)).toBe("−0.25");
  });
});

describe("text", () => {
  it("makes the invisible visible", () => {
    expect(printable("a\nb\u202e\u0007")).toBe("a\\nb\\u202e\\x07");
  });
  it("is cut at whole characters", () => {
    expect(printable("😀".repeat(100), 10)).toBe("😀".repeat(9) + "…");
    expect(printable("😀".repeat(10), 10)).toBe("😀".repeat(10));
  });
});
