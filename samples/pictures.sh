#!/usr/bin/env bash
# Draws the pictures of the gallery, or those whose names are given: samples/pictures.sh ragdoll pile
# Needs the extra `render`. Run it from the root of a checkout.
set -euo pipefail

draw() {
    name=$(basename "${3%.*}")
    if [[ -z "$wanted" || " $wanted " == *" $name "* ]]; then
        warp-artic render "$@"
    fi
}

wanted="$*"
draw samples/scenes/pendulum.usda -o samples/pictures/pendulum.webp --label 'pendulum' --times 0,0.119,0.237,0.356,0.475,0.594,0.712,0.831,0.95 --azimuth -90 --elevation 8 --trail /World/pendulum/rod/bob
draw samples/scenes/double_pendulum.usda -o samples/pictures/double_pendulum.webp --label 'double pendulum' --times 0,0.267,0.533,0.8,1.07,1.33,1.6 --azimuth -90 --elevation 8 --trail /World/pendulum/lower/shape
draw samples/scenes/peaucellier.usda -o samples/pictures/peaucellier.webp --label 'peaucellier' --times 0,0.167,0.333,0.5 --azimuth -90 --elevation 8 --trail /World/linkage/outer_a/pen
draw samples/scenes/cart_pole.usda -o samples/pictures/cart_pole.webp --label 'cart pole' --times 0,0.3,0.6,0.9,1.2,1.5 --azimuth -90 --elevation 8 --trail /World/cart_pole/pole/shape
draw samples/scenes/arm.usda -o samples/pictures/arm.webp --label 'arm' --times 0,0.2,0.4,0.6,0.8,1,1.2 --azimuth -60 --elevation 18 --trail /World/arm/flange/shape
draw samples/scenes/spherical_chain.usda -o samples/pictures/spherical_chain.webp --label 'spherical chain' --times 0,0.2,0.4,0.6,0.8,1 --azimuth -50 --elevation 20 --trail /World/chain/link_5/shape
draw samples/scenes/floating_three_links.usda -o samples/pictures/floating_three_links.webp --label 'floating three links' --times 0,1.38,2.75,4.12,5.5 --azimuth -90 --elevation 25 --trail /World/floater/left/shape
draw samples/scenes/ragdoll.usda -o samples/pictures/ragdoll.webp --label 'ragdoll' --times 0,0.22,0.44,0.66,0.88,1.1 --azimuth -80 --elevation 8 --trail /World/ragdoll/head/shape
draw samples/scenes/incline.usda -o samples/pictures/incline.webp --label 'incline' --times 0,0.3,0.6,0.9 --azimuth -40 --elevation 40
draw samples/scenes/falling.usda -o samples/pictures/falling.webp --label 'falling' --times 0,0.117,0.233,0.35,0.467,0.583,0.7 --azimuth -90 --elevation 8 --trail /World/free/end --trail /World/damped/end --trail /World/bounded/end --trail /World/light/end
draw samples/scenes/lifts.usda -o samples/pictures/lifts.webp --label 'lifts' --times 0,0.3,0.6,0.9 --azimuth -82 --elevation 8
draw samples/scenes/cranes.usda -o samples/pictures/cranes.webp --label 'cranes' --times 0,0.875,1.75,2.62,3.5,4.38,5.25,6.12,7 --azimuth -90 --elevation 8 --trail /World/hasty/load/weight --trail /World/gentle/load/weight
draw samples/scenes/lids.usda -o samples/pictures/lids.webp --label 'lids' --times 0,0.3,0.45,0.59,0.9 --azimuth -90 --elevation 12 --trail /World/hard/lid/shape --trail /World/bouncing/lid/shape --trail /World/soft/lid/shape --trail /World/slow/lid/shape
draw samples/scenes/needles.usda -o samples/pictures/needles.webp --label 'needles' --times 0,0.26,3 --azimuth -90 --elevation 8 --trail /World/panel/lively/needle/pointer --trail /World/panel/calm/needle/pointer --trail /World/panel/critical/needle/pointer
draw samples/scenes/elevons.usda -o samples/pictures/elevons.webp --label 'elevons' --times 0,0.2,2 --azimuth 212 --elevation 32 --trail /World/wing/stick/grip
draw samples/scenes/tackle.usda -o samples/pictures/tackle.webp --label 'tackle' --times 0,0.55,0.9 --azimuth -90 --elevation 8
draw samples/scenes/jumping_jack.usda -o samples/pictures/jumping_jack.webp --label 'jumping jack' --times 0,0.07,0.16,1.5 --azimuth -90 --elevation 8 --trail /World/jack/left_arm/limb/hand --trail /World/jack/right_arm/limb/hand
draw samples/scenes/four_dialects/warp_artic.usda -o samples/pictures/four_dialects_warp_artic.webp --label 'four dialects: warp artic' --times 0,0.14,0.3,0.9 --azimuth -90 --elevation 8 --trail /World/geared/upper/shape --trail /World/corded/upper/shape
draw samples/scenes/four_dialects/newton.usda -o samples/pictures/four_dialects_newton.webp --label 'four dialects: newton' --times 0,0.14,0.3,0.9 --azimuth -90 --elevation 8 --trail /World/geared/upper/shape --trail /World/corded/upper/shape
draw samples/scenes/fifty_petals.usda -o samples/pictures/fifty_petals.webp --label 'fifty petals' --times 0,0.45 --azimuth -60 --elevation 38
draw samples/scenes/coupled_hand.usda -o samples/pictures/coupled_hand.webp --label 'coupled hand' --times 0,0.07,1.5 --azimuth 60 --elevation 45 --trail /World/hand/index_tip/shape --trail /World/hand/little_tip/shape
draw samples/scenes/branching_tendon.usda -o samples/pictures/branching_tendon.webp --label 'branching tendon' --times 0,0.2,0.4,2 --azimuth -90 --elevation 8 --trail /World/claw/left_tip/shape --trail /World/claw/right_tip/shape
draw samples/scenes/hydraulic_arm.usda -o samples/pictures/hydraulic_arm.webp --label 'hydraulic arm' --times 0,0.3,0.9,4 --azimuth -90 --elevation 8 --trail /World/excavator/stick/bucket
draw samples/scenes/string.usda -o samples/pictures/string.webp --label 'string' --times 0,0.2,0.4,0.6,0.8,1,1.2,1.4,1.6 --azimuth -90 --elevation 8 --trail /World/gantry/weight/ball
draw samples/scenes/bent_beam.usda -o samples/pictures/bent_beam.webp --label 'bent beam' --times 0,0.6,1.1,1.6,2.4 --azimuth -90 --elevation 8
draw samples/scenes/soft_gripper.usda -o samples/pictures/soft_gripper.png --label 'soft gripper' --times 0,1.6 --azimuth -70 --elevation 14
draw samples/scenes/starfish.usda -o samples/pictures/starfish.webp --label 'starfish' --times 0,2.25 --azimuth -90 --elevation 89.9
draw samples/scenes/soft_fingertip.usda -o samples/pictures/soft_fingertip.png --label 'soft fingertip' --times 0,0.35,0.7,2.3 --azimuth -90 --elevation 8
draw samples/scenes/soft_blocks.usda -o samples/pictures/soft_blocks.webp --label 'soft blocks' --times 0,0.6,1.2 --azimuth -60 --elevation 25
draw samples/scenes/gripper.usda -o samples/pictures/gripper.webp --label 'gripper' --times 0,0.12,1.5 --azimuth -90 --elevation 8 --trail /World/gripper/left_tip/pad --trail /World/gripper/right_tip/pad
draw samples/scenes/rack_and_pinion.usda -o samples/pictures/rack_and_pinion.png --label 'rack and pinion' --times 0,0.3,0.45,0.75 --azimuth -90 --elevation 8 --trail /World/gear/pinion/bob
draw samples/scenes/differential.usda -o samples/pictures/differential.png --label 'differential' --times 0,0.7,1.1 --azimuth -35 --elevation 18 --trail /World/differential/left_wheel/upper_weight --trail /World/differential/right_wheel/upper_weight
draw samples/scenes/four_bar.usda -o samples/pictures/four_bar.png --label 'four bar' --times 0,0.25,0.5,0.75 --azimuth -90 --elevation 8 --trail /World/linkage/coupler/tracer
draw samples/scenes/slider_crank.usda -o samples/pictures/slider_crank.png --label 'slider crank' --times 0,0.15,0.3,0.45 --azimuth -90 --elevation 8 --trail /World/engine/piston/shape
draw samples/scenes/scissor_lift.usda -o samples/pictures/scissor_lift.png --label 'scissor lift' --times 0,0.3,2 --azimuth -80 --elevation 8 --trail /World/lift/platform/shape
draw samples/scenes/stewart_platform.usda -o samples/pictures/stewart_platform.png --label 'stewart platform' --times 0,2 --azimuth -55 --elevation 20 --trail /World/hexapod/platform/mark
draw samples/scenes/d6_zoo.usda -o samples/pictures/d6_zoo.png --label 'd6 zoo' --times 0,0.35,1.2 --azimuth -80 --elevation 14 --trail /World/puck --trail /World/marble --trail /World/bolt --trail /World/seat --trail /World/needle/tip
draw samples/scenes/breakable_bridge.usda -o samples/pictures/breakable_bridge.png --label 'breakable bridge' --times 0,0.28,0.55 --azimuth -72 --elevation 8 --trail /World/plank_2 --trail /World/plank_4 --trail /World/weight
draw samples/scenes/stack_and_wall.usda -o samples/pictures/stack_and_wall.png --label 'stack and wall' --times 0,0.3,1.4 --azimuth -62 --elevation 16 --trail /World/ball
draw samples/scenes/pile.usda -o samples/pictures/pile.png --label 'pile' --times 0,0.3,2.4 --azimuth -62 --elevation 24
draw samples/scenes/dominoes.usda -o samples/pictures/dominoes.png --label 'dominoes' --times 0,0.35,1.4 --azimuth -60 --elevation 32 --trail /World/ball
draw samples/scenes/marble_run.usda -o samples/pictures/marble_run.png --label 'marble run' --times 0,0.337,0.674,1.01,1.35,1.68,2.02,2.36,2.69,3.03,3.37,3.71,4.04,4.38,4.72,5.05,5.39,5.73,6.06,6.4 --azimuth -90 --elevation 8 --trail /World/marble_0
draw samples/scenes/billiards.usda -o samples/pictures/billiards.png --label 'billiards' --times 0,0.3,0.6,1.4 --azimuth -90 --elevation 60 --trail /World/cue --trail /World/ball_0 --trail /World/ball_1 --trail /World/ball_2 --trail /World/ball_3 --trail /World/ball_4 --trail /World/ball_5
draw samples/scenes/newtons_cradle.usda -o samples/pictures/newtons_cradle.png --label 'newtons cradle' --times 0,0.25,0.36,0.48,0.72 --azimuth -82 --elevation 8
draw samples/scenes/ragdoll_on_stairs.usda -o samples/pictures/ragdoll_on_stairs.png --label 'ragdoll on stairs' --times 0,0.6,0.95,1.3,3.4 --azimuth -72 --elevation 12 --trail /World/ragdoll/head
draw samples/scenes/standing.usda -o samples/pictures/standing.png --label 'standing' --times 0,1.85,2.3,3.1,4 --azimuth -72 --elevation 12 --trail /World/ragdoll/head
draw samples/scenes/excavator.usda -o samples/pictures/excavator.png --label 'excavator' --times 0,1.7,2.4,4.9 --azimuth -60 --elevation 20
draw samples/scenes/rattleback.usda -o samples/pictures/rattleback.png --label 'rattleback' --times 0,3.5,4.4,6.5 --azimuth -60 --elevation 35 --trail /World/stone/mark
draw samples/scenes/grasp.usda -o samples/pictures/grasp.png --label 'grasp' --times 0,0.65,1.53 --azimuth -60 --elevation 15 --trail /World/bottle/neck
draw samples/scenes/gears.usda -o samples/pictures/gears.png --label 'gears' --times 0,0.3,0.5 --azimuth -40 --elevation 22 --trail /World/axle/left_wheel/mark --trail /World/axle/right_wheel/mark

# Loops of three seconds.
draw samples/scenes/ragdoll_on_stairs.usda -o samples/pictures/ragdoll_on_stairs_loop.webp --size 480x330 --frames-per-second 20 --azimuth -72 --elevation 12
draw samples/scenes/coupled_hand.usda -o samples/pictures/coupled_hand_loop.webp --size 480x330 --frames-per-second 20 --azimuth 60 --elevation 35
draw samples/scenes/hydraulic_arm.usda -o samples/pictures/hydraulic_arm_loop.webp --size 480x330 --frames-per-second 20 --azimuth -80 --elevation 8
draw samples/scenes/marble_run.usda -o samples/pictures/marble_run_loop.webp --size 480x330 --frames-per-second 20 --azimuth -85 --elevation 6
draw samples/scenes/stewart_platform.usda -o samples/pictures/stewart_platform_loop.webp --size 480x330 --frames-per-second 20 --azimuth -55 --elevation 20
