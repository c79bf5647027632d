// A tornado: how far an answer moves with each number that it rests on, the widest on top. Where there are draws, the ends
// are the answers with the number at the ends of its 95% interval; otherwise with a point more or less of the number.
import { SaveChart } from "./save_chart.jsx";
import { percent } from "./share/words.js";

const ROW = 34;
const [LEFT, WIDTH] = [8, 330];
const [ROOM, MOST] = [50, 80]; // letters of a number's name: that fit as they are, and that fit if they are made narrower

const bounded = (value) => Math.min(1, Math.max(0, value));

export function Tornado({ probability, parameters }) {
  const rows = parameters.slice(0, 8).map((each) => {
    const point = each.change_per_point;
    const ends = (each.contribution !== undefined ? [each.at_low, each.at_high] : [probability - point, probability + point]).map(bounded);
    return { ...each, half: Math.max(...ends.map((end) => Math.abs(end - probability))), ends };
  });
  rows.sort((one, other) => other.half - one.half);
  const hasDraws = parameters[0]?.contribution !== undefined;
  const all = rows.flatMap((each) => each.ends).concat(probability);
  const [low, high] = [Math.max(0, Math.min(...all) - 0.01), Math.min(1, Math.max(...all) + 0.01)];
  const x = (value) => LEFT + (WIDTH * (value - low)) / Math.max(1e-9, high - low);
  const height = ROW * rows.length + 22;
  return (
    <figure className="tornado">
      <figcaption>
        {hasDraws ? "The answer, if each of these numbers were at the lower (pale) or the upper end (dark) of its 95% interval" : "How far the answer moves, if each of these numbers were a point smaller or larger"}{" "}
        <SaveChart name="sensitivity" />
      </figcaption>
      <svg viewBox={`0 0 ${LEFT + WIDTH + 8} ${height}`} role="img" aria-label={rows.map((each) => `${each.parameter}: ±${(100 * each.half).toFixed(1)} points`).join("; ")}>
        <line x1={x(probability)} x2={x(probability)} y1={14} y2={height - 18} />
        {rows.map((each, index) => (
          <g key={each.parameter} transform={`translate(0 ${ROW * index})`}>
            <title>{`${each.parameter} = ${percent(each.value)}`}</title>
            <text x={LEFT} y={12} {...(each.parameter.length > ROOM ? { textLength: WIDTH, lengthAdjust: "spacingAndGlyphs" } : {})}>
              {each.parameter.length > MOST ? `${each.parameter.slice(0, MOST - 1)}…` : each.parameter}
            </text>
            <rect className="less" x={Math.min(x(each.ends[0]), x(probability))} y={17} height={12} width={Math.abs(x(each.ends[0]) - x(probability))} />
            <rect className="more" x={Math.min(x(each.ends[1]), x(probability))} y={17} height={12} width={Math.abs(x(each.ends[1]) - x(probability))} />
          </g>
        ))}
        <text x={LEFT} y={height - 4}>
          {percent(low)}
        </text>
        <text x={Math.min(LEFT + WIDTH - 24, Math.max(LEFT + 40, x(probability)))} y={height - 4} textAnchor="middle" fontWeight={600}>
          {percent(probability)}
        </text>
        <text x={LEFT + WIDTH} y={height - 4} textAnchor="end">
          {percent(high)}
        </text>
      </svg>
    </figure>
  );
}
